/** All configuration sets. */
import { Button } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import { read, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import classes from '../../records/records.module.css';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { NewSetDialog } from './SetDialogs.tsx';

/** All sets that the person may see; the service lists those of one place at a time. */
function useSets() {
  const { organizationId } = useSession();
  const { projects } = useProjects(true);
  const own = useRead('listConfigurationSets', { query: { organizationId } });
  const ofProjects = useQueries({
    queries: projects.map(({ id }) => read('listConfigurationSets', { query: { projectId: id } })),
  });
  const sets: ConfigurationSet[] = [...(own.data ?? []), ...ofProjects.flatMap(({ data }) => data ?? [])];
  return { query: own, sets };
}

/** Number of variables and places of a set. */
function Counts({ id }: { readonly id: string }) {
  const { organizationId } = useSession();
  const variables = useRead('listVariables', { query: { organizationId, setId: id } });
  return <>{variables.data?.length ?? '…'}</>;
}

function Places({ id }: { readonly id: string }) {
  const { data } = useRead('getConfigurationSet', { params: { id } });
  return <>{data?.assignedTo.length ?? '…'}</>;
}

function useColumns(): Column<ConfigurationSet>[] {
  const { projects } = useProjects(true);
  return [
    {
      id: 'name',
      head: 'Name',
      cell: ({ id, name, description }) => (
        <>
          <Link to="/configuration-sets/$setId" params={{ setId: id }} className={classes.name!}>
            <bdi>{name}</bdi>
          </Link>
          {description && <div className={classes.faint}>{description}</div>}
        </>
      ),
    },
    {
      id: 'home',
      head: 'Belongs to',
      cell: ({ creationScope, creationScopeId }) =>
        creationScope === 'organization' ? (
          'the organization'
        ) : (
          <bdi>{pathOf(projects, creationScopeId) || creationScopeId}</bdi>
        ),
    },
    { id: 'variables', head: 'Variables', isNumber: true, cell: ({ id }) => <Counts id={id} /> },
    { id: 'places', head: 'Assigned to', isNumber: true, cell: ({ id }) => <Places id={id} /> },
    {
      id: 'updated',
      head: 'Changed',
      isMinor: true,
      cell: ({ updatedAt }) => updatedAt && <TimeAgo at={updatedAt} />,
    },
  ];
}

function NoSets({ organizationId }: { readonly organizationId: string }) {
  const body = {
    name: 'aws',
    scope: 'organization',
    scopeId: organizationId,
    configurationProperties: [{ name: 'region', value: 'eu-west-1', type: 1 as const }],
  } as const;
  return (
    <EmptyState
      title="No configuration sets yet"
      call={callOf(
        'Create a set',
        'createConfigurationSet',
        { body: { ...body, configurationProperties: [...body.configurationProperties] } },
        ['set', 'create', 'aws', '--var', 'region=eu-west-1'],
      )}
    >
      A set is a named group of variables: written once, assigned to any number of places.
    </EmptyState>
  );
}

export function ConfigurationSetsPage() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const [{ q = '' }, change] = useSearchState();
  const [isCreating, setIsCreating] = useState(false);
  const { query, sets } = useSets();
  const columns = useColumns();
  const part = q.toLowerCase();
  const found = sets.filter(({ name, description }) =>
    [name, description ?? ''].some((each) => each.toLowerCase().includes(part)),
  );
  const show = (setId: string) => void navigate({ to: '/configuration-sets/$setId', params: { setId } });
  return (
    <Page
      title="Configuration sets"
      lead="Named groups of variables that are assigned together. A change of a set reaches each environment with its next deployment."
      actions={
        <Button size="xs" onClick={() => setIsCreating(true)}>
          New set
        </Button>
      }
      calls={[callOf('List sets', 'listConfigurationSets', { query: { organizationId } }, ['set', 'list'])]}
    >
      {sets.length > 0 && (
        <div className={classes.filters} role="search">
          <SearchBox label="Find a set" value={q} onSearch={(text) => change({ q: text })} />
        </div>
      )}
      <Loaded query={query}>
        {() => {
          if (sets.length === 0) return <NoSets organizationId={organizationId} />;
          if (found.length === 0) return <EmptyState title="No matching sets" />;
          return (
            <DataTable
              label="Configuration sets"
              columns={columns}
              rows={found}
              idOf={({ id }) => id}
              onOpen={({ id }) => show(id)}
            />
          );
        }}
      </Loaded>
      {isCreating && <NewSetDialog onClose={() => setIsCreating(false)} onSaved={show} />}
    </Page>
  );
}
