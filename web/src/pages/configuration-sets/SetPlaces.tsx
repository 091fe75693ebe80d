/** The places that a set is assigned to. */
import { Group, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConfigurationSetDetails, SetPlace } from '#contract/configuration-sets/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, usePage } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { isWithin, pathOf } from '../../forms/project-tree.ts';
import { TemplateSelect } from '../../forms/TemplateSelect.tsx';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { type Assignable, assignables, rightToAssign } from './set-scopes.ts';

const refreshes = [
  'getConfigurationSet',
  'listConfigurationSets',
  'listSetAssignments',
  'listVariables',
] as const;

interface OfSet {
  readonly set: ConfigurationSetDetails;
}

function PlaceName({ place: { scope, scopeId, name } }: { readonly place: SetPlace }) {
  const { projects } = useProjects(true);
  if (scope === 'project')
    return (
      <Link to="/projects/$projectId" params={{ projectId: scopeId }} className={classes.name!}>
        <bdi>{pathOf(projects, scopeId) || name}</bdi>
      </Link>
    );
  if (scope === 'template')
    return (
      <Link to="/templates/$templateId" params={{ templateId: scopeId }} className={classes.name!}>
        <bdi>{name}</bdi>
      </Link>
    );
  if (scope !== 'environment') return <bdi className={classes.name}>{name}</bdi>;
  return (
    <Link to="/environments/$environmentId" params={{ environmentId: scopeId }} className={classes.name!}>
      <bdi>{name}</bdi>
    </Link>
  );
}

function Unassign({ set, place }: OfSet & { readonly place: SetPlace }) {
  const { organizationId } = useSession();
  const { right, where } = rightToAssign(place, organizationId);
  const rights = useRights(where);
  const remove = useChange('unassignConfigurationSets', {
    refreshes,
    onSuccess: () => showDone(`${set.name} is no longer assigned to ${place.name}`),
  });
  return (
    <ActionButton
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Unassign from ${place.name}`}
      whyNot={rights.whyNot(right)}
      loading={remove.isPending}
      onClick={() =>
        remove.mutate({ params: { scope: place.scope, scopeId: place.scopeId }, query: { setIds: set.id } })
      }
    >
      Unassign
    </ActionButton>
  );
}

interface PickProps extends OfSet {
  readonly scope: Assignable;
  readonly id: string;
  readonly onChange: (id: string) => void;
}

/** Environments are found by what is typed: there may be many. */
function PickEnvironment({ id, onChange, set }: PickProps) {
  const { organizationId } = useSession();
  const [text, setText] = useState('');
  const place = set.creationScope === 'project' ? { projectId: set.creationScopeId } : { organizationId };
  const { data } = usePage('listEnvironments', {
    query: {
      ...place,
      limit: 50,
      excludeFields: 'latestDeploymentLog',
      ...(text === '' ? {} : { searchText: text }),
    },
  });
  return (
    <Select
      label="Environment"
      placeholder="Type a part of the name"
      data={(data?.rows ?? []).map((each) => ({ value: each.id, label: each.name }))}
      value={id === '' ? null : id}
      onChange={(next) => onChange(next ?? '')}
      searchable
      onSearchChange={setText}
      nothingFoundMessage="No matching environment"
      w={280}
    />
  );
}

function Pick(props: PickProps) {
  const { scope, id, onChange, set } = props;
  if (scope === 'template') return <TemplateSelect value={id} onChange={onChange} />;
  if (scope === 'environment') return <PickEnvironment {...props} />;
  if (scope === 'organization') return null;
  return (
    <ProjectSelect
      label="Project"
      placeholder="Choose a project"
      value={id}
      onChange={onChange}
      without={(project) => set.creationScope === 'project' && !isWithin(project, set.creationScopeId)}
    />
  );
}

function Assign({ set }: OfSet) {
  const { organizationId } = useSession();
  const scopes = assignables(set.creationScope);
  const [scope, setScope] = useState<Assignable>('project');
  const [chosenId, setChosenId] = useState('');
  const id = scope === 'organization' ? organizationId : chosenId;
  const { right, where } = rightToAssign({ scope, scopeId: id }, organizationId);
  const rights = useRights(id === '' ? undefined : where);
  const assign = useChange('assignConfigurationSets', {
    refreshes,
    onSuccess: () => {
      showDone('Assigned: it applies from the next deployment on');
      setChosenId('');
    },
  });
  const isThere = set.assignedTo.some((place) => place.scope === scope && place.scopeId === id);
  const missing =
    id === '' ? `Choose the ${scope} first.` : isThere ? 'It is assigned there already.' : undefined;
  return (
    <Group align="end" mb="md" gap="xs">
      <Select
        label="Assign to"
        data={scopes.map((value) => ({ value, label: value }))}
        value={scope}
        onChange={(next) => {
          setScope((next ?? 'project') as Assignable);
          setChosenId('');
        }}
        allowDeselect={false}
        w={150}
      />
      <Pick set={set} scope={scope} id={chosenId} onChange={setChosenId} />
      <ActionButton
        whyNot={missing ?? rights.whyNot(right)}
        loading={assign.isPending}
        onClick={() => assign.mutate({ params: { scope, scopeId: id }, query: { setIds: set.id } })}
      >
        Assign
      </ActionButton>
    </Group>
  );
}

export function SetPlaces({ set }: OfSet) {
  const { projects } = useProjects();
  const projectId = projects[0]?.id ?? '{projectId}';
  return (
    <>
      <Assign set={set} />
      {set.assignedTo.length === 0 ? (
        <EmptyState
          title="The set is not assigned yet"
          call={callOf(
            'Assign it to a project',
            'assignConfigurationSets',
            { params: { scope: 'project', scopeId: projectId }, query: { setIds: set.id } },
            ['set', 'assign', set.id, '--project', projectId],
          )}
        />
      ) : (
        <DataTable
          label="Places that the set is assigned to"
          rows={set.assignedTo}
          idOf={({ scope, scopeId }) => `${scope} ${scopeId}`}
          columns={[
            { id: 'name', head: 'Assigned to', cell: (place) => <PlaceName place={place} /> },
            {
              id: 'scope',
              head: 'Kind',
              cell: ({ scope }) => scope,
            },
            {
              id: 'project',
              head: 'In',
              isMinor: true,
              cell: ({ projectId: id }) => <bdi>{id === undefined ? '' : pathOf(projects, id)}</bdi>,
            },
            { id: 'remove', head: '', cell: (place) => <Unassign set={set} place={place} /> },
          ]}
        />
      )}
    </>
  );
}
