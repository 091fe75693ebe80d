/** A deployment: what happens in a sentence, its steps, its plan, its log, and what people decide about it. */
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { countsOf, countsOfSummary } from '#contract/deployments/plan-counts.ts';
import { isStatus } from '../../api/errors.ts';
import { useRead } from '../../api/queries.ts';
import { deploymentLooks, driftLooks, Status } from '../../design/status.tsx';
import { deploymentTypeWords } from '../../design/words.ts';
import { callOf } from '../../ui/calls.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { DeploymentTabs } from './DeploymentTabs.tsx';
import { DecisionButtons } from './decide/DecisionButtons.tsx';
import { DecisionNotes } from './decide/DecisionNotes.tsx';
import { useDecisions } from './decide/use-decisions.ts';
import { type DeploymentReply, useHead, usePlan } from './facts/reads.ts';
import { Failure } from './parts/Failure.tsx';
import { Findings } from './parts/Findings.tsx';
import { Lead } from './parts/Lead.tsx';
import { Levels } from './parts/Levels.tsx';
import { StepStrip, TimeParts } from './parts/StepStrip.tsx';

/** Calls of the page, for a terminal. */
function callsOf({ status, planHash }: DeploymentReply, id: string) {
  const params = { id };
  const hash = planHash === undefined ? [] : ['--plan-hash', planHash];
  return [
    callOf('This deployment', 'getDeployment', { params }, ['logs', id]),
    callOf('Its steps', 'listSteps', { params: { deploymentLogId: id } }),
    ...(status === 'WAITING_FOR_USER'
      ? [
          callOf(
            'Approve',
            'approveDeployment',
            { params, body: planHash === undefined ? {} : { planHash } },
            ['approve', id, ...hash],
          ),
          callOf('Refuse', 'cancelDeployment', { params }, ['cancel', id]),
        ]
      : []),
    ...(status === 'IN_PROGRESS' ? [callOf('Abort', 'abortDeployment', { params }, ['abort', id])] : []),
  ];
}

function Found({ deployment }: { readonly deployment: DeploymentReply }) {
  const id = deployment.id ?? '';
  const { environmentId, planSummary, type, status, driftDetected } = deployment;
  const environmentRead = useRead('getEnvironment', { params: { id: environmentId } });
  const { data: environment } = environmentRead;
  const { data: steps = [] } = useRead('listSteps', { params: { deploymentLogId: id } });
  const { data: timeline } = useRead('getDeploymentTimeline', { params: { id } });
  const plan = usePlan(deployment);
  const counts = useMemo(() => {
    if (plan.data) return countsOf(plan.data.resourceChanges);
    return plan.isPending || planSummary === undefined ? undefined : countsOfSummary(planSummary);
  }, [plan.data, plan.isPending, planSummary]);
  const decisions = useDecisions(id, environmentId);
  const shownPlan = plan.isPlaceholderData ? undefined : plan.data;
  const about = { deployment, environment, plan: shownPlan, decisions };
  const isGone = isStatus(environmentRead.error, 404);
  const place = environment?.name ?? 'an environment';
  return (
    <Page
      title={`${deploymentTypeWords[type]} of ${place}`}
      aside={<Status look={driftDetected ? driftLooks.DRIFTED : deploymentLooks[status]} filled />}
      crumbs={[
        { label: 'Environments', to: '/environments' },
        { label: place, to: `/environments/${environmentId}` },
      ]}
      lead={<Lead deployment={deployment} steps={steps} counts={counts} />}
      actions={!isGone && <DecisionButtons {...about} />}
      calls={callsOf(deployment, id)}
    >
      {isGone && (
        <p role="alert">The environment of this deployment was deleted. This is its last known state.</p>
      )}
      <DecisionNotes {...about} />
      <Levels deployment={deployment} steps={steps} />
      <StepStrip steps={steps} />
      {timeline !== undefined && <TimeParts timeline={timeline} />}
      <Failure deployment={deployment} steps={steps} />
      <Findings diagnostics={deployment.diagnostics} />
      <DeploymentTabs deployment={deployment} steps={steps} plan={plan} />
    </Page>
  );
}

export function DeploymentPage() {
  const { deploymentId } = useParams({ from: '/shell/deployments/$deploymentId' });
  const head = useHead(deploymentId);
  if (head.data !== undefined) return <Found key={deploymentId} deployment={head.data} />;
  return (
    <Page
      title="Deployment"
      crumbs={[{ label: 'Environments', to: '/environments' }]}
      calls={[callOf('This deployment', 'getDeployment', { params: { id: deploymentId } })]}
    >
      <Loaded query={head}>{() => null}</Loaded>
    </Page>
  );
}
