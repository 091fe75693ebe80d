/** The places that an approval policy is assigned to. */

import { Group, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApprovalPolicyEntry, FlowScope } from '#contract/custom-flows/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { TemplateSelect } from '../../forms/TemplateSelect.tsx';
import records from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { EngineNotice } from './EngineNotice.tsx';
import { rightsToAssign, scopeWords } from './policy-words.ts';

const refreshes = ['listApprovalPolicies', 'listAssignedApprovalPolicies'] as const;

type PolicyAssignment = ApprovalPolicyEntry['assignments'][number];

function usePlaceRights({ scope, scopeId }: Pick<PolicyAssignment, 'scope' | 'scopeId'>) {
  const { organizationId } = useSession();
  const place = scope === 'PROJECT' ? { projectId: scopeId } : { organizationId };
  const rights = useRights(scopeId === '' ? undefined : place);
  return rights.whyNot(rightsToAssign[scope]);
}

function PlaceName({ place: { scope, scopeId, scopeName } }: { readonly place: PolicyAssignment }) {
  const { projects } = useProjects(true);
  if (scope === 'PROJECT')
    return (
      <Link to="/projects/$projectId" params={{ projectId: scopeId }} className={records.name!}>
        <bdi>{pathOf(projects, scopeId) || scopeName}</bdi>
      </Link>
    );
  if (scope === 'ORGANIZATION') return <bdi className={records.name}>{scopeName}</bdi>;
  return (
    <Link to="/templates/$templateId" params={{ templateId: scopeId }} className={records.name!}>
      <bdi>{scopeName}</bdi>
    </Link>
  );
}

function Unassign({ place }: { readonly place: PolicyAssignment }) {
  const whyNot = usePlaceRights(place);
  const { scope, scopeId, scopeName, blueprintId } = place;
  const remove = useChange('unassignApprovalPolicy', {
    refreshes,
    onSuccess: () => showDone(`It no longer checks plans of ${scopeName}`),
  });
  return (
    <ActionButton
      size="compact-xs"
      variant="subtle"
      color="red"
      aria-label={`Unassign from ${scopeName}`}
      whyNot={whyNot}
      loading={remove.isPending}
      onClick={() => remove.mutate({ query: { id: `${scope}#${scopeId}#${blueprintId}` } })}
    >
      Unassign
    </ActionButton>
  );
}

function Assign({ entry: { policy, assignments } }: { readonly entry: ApprovalPolicyEntry }) {
  const { organizationId } = useSession();
  const [scope, setScope] = useState<FlowScope>('PROJECT');
  const [chosenId, setChosenId] = useState('');
  const scopeId = scope === 'ORGANIZATION' ? organizationId : chosenId;
  const whyNot = usePlaceRights({ scope, scopeId });
  const assign = useChange('assignApprovalPolicy', {
    refreshes,
    onSuccess: () => {
      showDone('Assigned: it checks every deployment that starts from now on');
      setChosenId('');
    },
  });
  const isThere = assignments.some((each) => each.scope === scope && each.scopeId === scopeId);
  const missing =
    scopeId === ''
      ? `Choose the ${scopeWords[scope]} first.`
      : isThere
        ? 'It is assigned there already.'
        : undefined;
  return (
    <Group align="end" mb="md" gap="xs">
      <Select
        label="Assign to"
        data={Object.entries(scopeWords).map(([value, label]) => ({ value, label }))}
        value={scope}
        onChange={(next) => {
          setScope((next ?? 'PROJECT') as FlowScope);
          setChosenId('');
        }}
        allowDeselect={false}
        w={150}
      />
      {scope === 'PROJECT' && (
        <ProjectSelect
          label="Project"
          placeholder="Choose a project"
          value={chosenId}
          onChange={setChosenId}
        />
      )}
      {scope === 'BLUEPRINT' && <TemplateSelect value={chosenId} onChange={setChosenId} />}
      <ActionButton
        whyNot={missing ?? whyNot}
        loading={assign.isPending}
        onClick={() => assign.mutate({ body: { scope, scopeId, blueprintId: policy.id } })}
      >
        Assign
      </ActionButton>
    </Group>
  );
}

export function PolicyPlaces({ entry }: { readonly entry: ApprovalPolicyEntry }) {
  const { policy, assignments } = entry;
  const { projects } = useProjects();
  const projectId = projects[0]?.id ?? '{projectId}';
  return (
    <>
      <EngineNotice />
      <Assign entry={entry} />
      {assignments.length === 0 ? (
        <EmptyState
          title="The policy is not assigned yet"
          call={callOf(
            'Assign it to a project',
            'assignApprovalPolicy',
            { body: { scope: 'PROJECT', scopeId: projectId, blueprintId: policy.id } },
            ['approval-policies', 'assign', policy.id, '--project', projectId],
          )}
        >
          A policy of a project also checks the projects below it.
        </EmptyState>
      ) : (
        <DataTable
          label="Places that the policy is assigned to"
          rows={assignments}
          idOf={({ scope, scopeId }) => `${scope} ${scopeId}`}
          columns={[
            { id: 'name', head: 'Assigned to', cell: (place) => <PlaceName place={place} /> },
            { id: 'scope', head: 'Kind', cell: ({ scope }) => scopeWords[scope] },
            { id: 'remove', head: '', cell: (place) => <Unassign place={place} /> },
          ]}
        />
      )}
    </>
  );
}
