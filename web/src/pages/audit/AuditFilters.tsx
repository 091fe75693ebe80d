/** The filters of the audit trail, which are kept in the address. */
import { Autocomplete, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { MemberSelect } from '../../records/choosers.tsx';
import classes from '../../records/records.module.css';
import { type Search, useSearchState } from '../../ui/search.ts';
import { type FilterName, filterNames, filtersOf, isoOf, localTimeOf } from './audit-query.ts';

/** The most usual ones; any other can be typed. */
const actions = [
  'apiKey.created',
  'apiKey.deleted',
  'call.refused',
  'credential.created',
  'credentials.refused',
  'deployment.aborted',
  'deployment.approved',
  'deployment.cancelled',
  'deployment.started',
  'environment.created',
  'environment.deleted',
  'invitation.created',
  'organization.policiesUpdated',
  'organization.updated',
  'project.created',
  'project.updated',
  'role.assigned',
  'role.removed',
  'team.created',
  'team.updated',
  'user.removed',
  'user.roleChanged',
  'variables.changed',
];
const entities = [
  'apiKey',
  'credential',
  'deployment',
  'environment',
  'organization',
  'project',
  'role',
  'team',
  'user',
];

interface TypedProps {
  readonly label: string;
  readonly name: FilterName;
  readonly data?: readonly string[];
}

/** A text counts when it is chosen, or when the field is left: not with each letter. */
function Typed({ label, name, data = [] }: TypedProps) {
  const [search, change] = useSearchState();
  const current = search[name] ?? '';
  const [typed, setTyped] = useState<string>();
  const send = (text: string) => {
    setTyped(undefined);
    if (text.trim() !== current) change({ [name]: text.trim() || undefined, after: undefined });
  };
  return (
    <Autocomplete
      label={label}
      data={[...data]}
      value={typed ?? current}
      onChange={setTyped}
      onOptionSubmit={send}
      onBlur={() => typed !== undefined && send(typed)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') send(event.currentTarget.value);
      }}
    />
  );
}

export function AuditFilters() {
  const [search, change] = useSearchState();
  const set = (changes: Search) => change({ ...changes, after: undefined });
  const count = Object.keys(filtersOf(search)).length;
  return (
    <div className={classes.filters}>
      <MemberSelect
        label="Who"
        placeholder="Everyone"
        clearable
        value={search.actorId ?? null}
        onChange={(actorId) => set({ actorId: actorId ?? undefined })}
      />
      <Typed label="Action" name="action" data={actions} />
      <Typed label="Kind" name="entity" data={entities} />
      <Typed label="Id" name="entityId" />
      <ProjectSelect
        label="Project"
        placeholder="All"
        clearable
        value={search.projectId ?? ''}
        onChange={(projectId) => set({ projectId: projectId || undefined })}
      />
      <TextInput
        type="datetime-local"
        label="From"
        value={localTimeOf(search.from)}
        onChange={(event) => set({ from: isoOf(event.currentTarget.value) })}
      />
      <TextInput
        type="datetime-local"
        label="To"
        value={localTimeOf(search.to)}
        onChange={(event) => set({ to: isoOf(event.currentTarget.value) })}
      />
      {count > 0 && (
        <Button
          variant="subtle"
          style={{ flex: '0 0 auto' }}
          onClick={() => set(Object.fromEntries(filterNames.map((name) => [name, undefined])))}
        >
          Without filters
        </Button>
      )}
    </div>
  );
}
