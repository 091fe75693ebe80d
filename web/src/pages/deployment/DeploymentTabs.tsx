/** The parts of a deployment beside each other; which one is shown is in the address. */
import { Loader, Tabs } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Plan } from '#contract/deployments/plan.ts';
import type { Step } from '#contract/deployments/shapes.ts';
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { useSearchState } from '../../ui/search.ts';
import type { DeploymentReply } from './facts/reads.ts';
import classes from './parts/parts.module.css';
import { PlanTab } from './plan/PlanTab.tsx';
import { CostsTab, hasCosts } from './tabs/CostsTab.tsx';
import { DetailsTab } from './tabs/DetailsTab.tsx';
import { OutputsTab } from './tabs/OutputsTab.tsx';
import { ResourcesTab } from './tabs/ResourcesTab.tsx';
import { VariablesTab } from './tabs/VariablesTab.tsx';

const LogViewer = lazy(() => import('./log/LogViewer.tsx'));

interface LogPlaceProps {
  readonly deploymentId: string;
  readonly steps: readonly Step[];
  readonly isRunning: boolean;
}

/** Place of the log viewer, which is loaded when it is opened. */
function LogPlace({ deploymentId, steps, isRunning }: LogPlaceProps) {
  return (
    <Suspense
      fallback={
        <output aria-label="Loading">
          <Loader />
        </output>
      }
    >
      <LogViewer deploymentId={deploymentId} steps={steps} isOver={!isRunning} />
    </Suspense>
  );
}

const tabs = ['plan', 'costs', 'log', 'outputs', 'resources', 'variables', 'details'] as const;
type Tab = (typeof tabs)[number];

const names: Readonly<Record<Tab, string>> = {
  plan: 'Plan',
  costs: 'Costs',
  log: 'Log',
  outputs: 'Outputs',
  resources: 'Resources',
  variables: 'Variables',
  details: 'Details',
};

/** Default tab: the plan, but the log of a deployment that is running or has failed. */
function firstTab({ status, planHash, planSummary }: DeploymentReply): Tab {
  if (status === 'WAITING_FOR_USER') return 'plan';
  const hasPlan = planHash !== undefined || planSummary !== undefined;
  const isAboutLog = ['IN_PROGRESS', 'ABORTING', 'FAILURE', 'ABORTED', 'TIMEOUT', 'INTERNAL_FAILURE'];
  return hasPlan && !isAboutLog.includes(status) ? 'plan' : 'log';
}

interface DeploymentTabsProps {
  readonly deployment: DeploymentReply;
  readonly steps: readonly Step[];
  readonly plan: UseQueryResult<Plan | null>;
}

function NoPlan({ deployment: { status, type } }: Pick<DeploymentTabsProps, 'deployment'>) {
  if (type === 'task') return <EmptyState title="A task has no plan">Its log says what it did.</EmptyState>;
  return isTerminal(status) ? (
    <EmptyState title="There is no plan">The deployment ended before the tool had made one.</EmptyState>
  ) : (
    <EmptyState title="There is no plan yet">It appears here as soon as the tool has made it.</EmptyState>
  );
}

function Panel({ tab, deployment, steps, plan }: DeploymentTabsProps & { readonly tab: Tab }): ReactNode {
  switch (tab) {
    case 'plan':
      return (
        <Loaded query={plan}>
          {(shownPlan) =>
            shownPlan === null ? (
              <NoPlan deployment={deployment} />
            ) : (
              <PlanTab
                plan={shownPlan}
                isPlanEmpty={deployment.isPlanEmpty}
                isWithoutDrift={deployment.type === 'driftDetection' && deployment.driftDetected === false}
              />
            )
          }
        </Loaded>
      );
    case 'log':
      return (
        <LogPlace
          deploymentId={deployment.id ?? ''}
          steps={steps}
          isRunning={!isTerminal(deployment.status)}
        />
      );
    case 'costs':
      return <CostsTab deployment={deployment} steps={steps} />;
    case 'outputs':
      return <OutputsTab deployment={deployment} />;
    case 'resources':
      return <ResourcesTab deployment={deployment} />;
    case 'variables':
      return <VariablesTab deployment={deployment} />;
    default:
      return <DetailsTab deployment={deployment} />;
  }
}

export function DeploymentTabs(props: DeploymentTabsProps) {
  const [search, change] = useSearchState();
  // It stays what it was when the page opened: nothing jumps away from a reader.
  const [first] = useState(() => firstTab(props.deployment));
  const shown = tabs.filter((each) => each !== 'costs' || hasCosts(props.deployment, props.steps));
  const tab = shown.find((each) => each === search['tab']) ?? first;
  return (
    <Tabs
      value={tab}
      onChange={(next) => change({ tab: next ?? undefined, step: undefined, line: undefined }, true)}
      keepMounted={false}
      className={classes.tabs!}
    >
      <Tabs.List>
        {shown.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {names[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map((each) => (
        <Tabs.Panel key={each} value={each} pt="md">
          {each === tab && <Panel {...props} tab={tab} />}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
