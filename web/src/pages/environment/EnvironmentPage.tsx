/** One environment: its head, what can be done with it, and everything about it in tabs. */
import { Group, Loader, Tabs } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useRef } from 'react';
import { isStatus } from '../../api/errors.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { driftLooks, environmentLooks, Status } from '../../design/status.tsx';
import { wayTo } from '../../forms/project-tree.ts';
import { Loaded } from '../../ui/Loaded.tsx';
import { type Crumb, Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { HeadActions } from './actions/HeadActions.tsx';
import classes from './facts/environment.module.css';
import type { EnvironmentProps, EnvironmentReply } from './facts/reads.ts';
import { Sentence } from './facts/Sentence.tsx';
import { Notices } from './Notices.tsx';
import { callsOf, tabs } from './tabs.ts';

/** The projects from the top down to the environment's own. */
function useCrumbs({ organizationId, projectId, projectName }: EnvironmentReply): Crumb[] {
  const { data = [] } = useRead('listProjects', { query: { organizationId } });
  const way = wayTo(data, projectId);
  const shown = way.length > 0 ? way : [{ id: projectId, name: projectName }];
  return shown.map(({ id, name }) => ({ label: name, to: `/projects/${id}` }));
}

function Tab({ tab, ...props }: EnvironmentProps & { readonly tab: string }) {
  const { Component } = tabs.find(({ id }) => id === tab) ?? tabs[0]!;
  return (
    <Suspense fallback={<Loader size="sm" aria-label="Loading" />}>
      <Component {...props} />
    </Suspense>
  );
}

interface TabBarProps {
  readonly tab: string;
  readonly onChange: (tab: string) => void;
  readonly children: ReactNode;
}

/** On narrow screens the tabs scroll: the one that is open is in sight. */
function TabBar({ tab, onChange, children }: TabBarProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
  return (
    <Tabs value={tab} onChange={(next) => next !== null && onChange(next)} keepMounted={false}>
      <Tabs.List ref={list} className={classes.tabs!} mb="md">
        {tabs.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab}>{children}</Tabs.Panel>
    </Tabs>
  );
}

/** Status, drift apart from it, and how long it lives. */
function Aside({ environment }: { readonly environment: EnvironmentReply }) {
  const { status, driftStatus, lifespanEndAt, isArchived } = environment;
  const hasDrift = driftStatus !== 'DISABLED' && driftStatus !== 'NEVER_RUN' && status !== 'DRIFTED';
  return (
    <Group gap="sm">
      <Status look={environmentLooks[status]} filled />
      {hasDrift && <Status look={driftLooks[driftStatus]} />}
      {lifespanEndAt && !isArchived && status !== 'INACTIVE' && (
        <span className={classes.faint}>
          expires <TimeAgo at={lifespanEndAt} />
        </span>
      )}
    </Group>
  );
}

function Shown({ environment }: { readonly environment: EnvironmentReply }) {
  const [search, setSearch] = useSearchState();
  const rights = useRights({ environmentId: environment.id });
  const crumbs = useCrumbs(environment);
  const props = { environment, rights };
  const tab = tabs.some(({ id }) => id === search.tab) ? search.tab! : 'overview';
  return (
    <Page
      title={environment.name}
      aside={<Aside environment={environment} />}
      lead={<Sentence environment={environment} />}
      crumbs={crumbs}
      actions={<HeadActions {...props} />}
      calls={callsOf(tab, environment)}
    >
      <Notices {...props} />
      <TabBar tab={tab} onChange={(next) => setSearch({ tab: next === 'overview' ? undefined : next }, true)}>
        <Tab tab={tab} {...props} />
      </TabBar>
    </Page>
  );
}

function Deleted({ name }: { readonly name: string }) {
  return (
    <Page title={name} calls={[]}>
      <section className={classes.gone} role="alert">
        <h2>This environment does not exist any more</h2>
        <p>It was deleted, or you no longer have access to it. The audit trail shows what happened.</p>
        <Link to="/environments">All environments</Link>
      </section>
    </Page>
  );
}

export function EnvironmentPage() {
  const { environmentId = '' } = useParams({ strict: false });
  useSession();
  const query = useRead('getEnvironment', { params: { id: environmentId } });
  if (query.isError && isStatus(query.error, 404, 403) && query.data !== undefined)
    return <Deleted name={query.data.name} />;
  if (query.data !== undefined) return <Shown key={environmentId} environment={query.data} />;
  return (
    <Page title="Environment" calls={[]}>
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
}
