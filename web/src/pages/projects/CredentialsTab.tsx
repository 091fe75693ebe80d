/** The cloud credentials that runs of a project get, and which of them are assigned here. */
import { Group, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Credential } from '#contract/credentials/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { type Reply, useChange, useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import records from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import classes from './projects.module.css';

const refreshes = ['listProjectCredentials'] as const;

interface Row {
  readonly id: string;
  readonly credential: Credential | undefined;
  /** The cloud for which runs get it; absent: another one counts. */
  readonly cloud: string | undefined;
  /** Place of the assignment. */
  readonly projectId: string;
}

/** Those that runs get, and those that are assigned here and hidden by others. */
function rowsOf(
  { credentialIds, effective }: Reply<'listProjectCredentials'>,
  all: readonly Credential[],
  projectId: string,
): Row[] {
  const find = (id: string) => all.find((each) => each.id === id);
  const counting = effective.map((each) => ({
    id: each.credentialId,
    credential: find(each.credentialId),
    cloud: each.cloud,
    projectId: each.projectId,
  }));
  const known = new Set(counting.filter((each) => each.projectId === projectId).map(({ id }) => id));
  const hidden = credentialIds.filter((id) => !known.has(id));
  return [...counting, ...hidden.map((id) => ({ id, credential: find(id), cloud: undefined, projectId }))];
}

function Remove({ row, project }: { readonly row: Row; readonly project: Project }) {
  const rights = useRights({ projectId: project.id });
  const remove = useChange('unassignCredential', {
    refreshes,
    onSuccess: () => showDone('Removed: runs that have begun continue with it'),
  });
  const name = row.credential?.name ?? row.id;
  return (
    <ActionButton
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Remove ${name}`}
      whyNot={
        row.projectId === project.id
          ? rights.whyNot('EDIT_PROJECT_SETTINGS')
          : 'It is assigned further up: remove it there, or assign another one of this cloud here.'
      }
      loading={remove.isPending}
      onClick={() => remove.mutate({ params: { credentialId: row.id, projectId: project.id } })}
    >
      Remove
    </ActionButton>
  );
}

function Assign({ project, without }: { readonly project: Project; readonly without: readonly string[] }) {
  const { organizationId } = useSession();
  const [id, setId] = useState('');
  const all = useRead('listCredentials', { query: { organizationId } });
  const rights = useRights({ projectId: project.id });
  const assign = useChange('assignCredential', {
    refreshes,
    onSuccess: () => {
      showDone('Assigned: runs of this project and of those below get it');
      setId('');
    },
  });
  return (
    <Group align="end" mb="md" gap="xs">
      <Select
        label="Assign a credential"
        placeholder="Choose one"
        data={(all.data ?? [])
          .filter((each) => !without.includes(each.id))
          .map((each) => ({ value: each.id, label: `${each.name} · ${each.type}` }))}
        value={id === '' ? null : id}
        onChange={(next) => setId(next ?? '')}
        searchable
        nothingFoundMessage="No matching credential"
      />
      <ActionButton
        whyNot={id === '' ? 'Choose a credential first.' : rights.whyNot('EDIT_PROJECT_SETTINGS')}
        loading={assign.isPending}
        onClick={() => assign.mutate({ params: { credentialId: id, projectId: project.id } })}
      >
        Assign
      </ActionButton>
    </Group>
  );
}

function Place({ row, project }: { readonly row: Row; readonly project: Project }) {
  const { projects } = useProjects(true);
  if (row.projectId === project.id) return 'this project';
  return (
    <Link to="/projects/$projectId" params={{ projectId: row.projectId }} search={{ tab: 'credentials' }}>
      <bdi>{pathOf(projects, row.projectId) || row.projectId}</bdi>
    </Link>
  );
}

function NoCredentials({ project }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const all = useRead('listCredentials', { query: { organizationId } });
  const credentialId = all.data?.[0]?.id ?? '{credentialId}';
  return (
    <EmptyState
      title="Runs of this project get no cloud credentials"
      call={callOf(
        'Assign a credential',
        'assignCredential',
        { params: { credentialId, projectId: project.id } },
        ['credentials', 'assign', credentialId, '--project', project.id],
      )}
    />
  );
}

export default function CredentialsTab({ project }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const assigned = useRead('listProjectCredentials', { params: { projectId: project.id } });
  const all = useRead('listCredentials', { query: { organizationId } });
  return (
    <Loaded query={assigned}>
      {(reply) => {
        const rows = rowsOf(reply, all.data ?? [], project.id);
        return (
          <>
            <Assign project={project} without={reply.credentialIds} />
            <p className={classes.note}>
              For each cloud, the nearest assignment counts; of several in one project, the newest.
            </p>
            {rows.length === 0 ? (
              <NoCredentials project={project} />
            ) : (
              <DataTable
                label="Credentials of this project"
                rows={rows}
                idOf={({ id, projectId }) => `${id} ${projectId}`}
                columns={[
                  {
                    id: 'name',
                    head: 'Credential',
                    cell: ({ credential, id }) => (
                      <bdi className={records.name}>{credential?.name ?? id}</bdi>
                    ),
                  },
                  {
                    id: 'type',
                    head: 'Type',
                    isMinor: true,
                    cell: ({ credential }) => credential?.type ?? '',
                  },
                  {
                    id: 'cloud',
                    head: 'Runs get it for',
                    cell: ({ cloud }) => cloud ?? 'nothing: another one of its cloud counts',
                  },
                  { id: 'place', head: 'Assigned in', cell: (row) => <Place row={row} project={project} /> },
                  { id: 'remove', head: '', cell: (row) => <Remove row={row} project={project} /> },
                ]}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}
