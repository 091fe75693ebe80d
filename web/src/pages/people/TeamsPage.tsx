/** Teams: members that have roles together. */
import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { OpenLink, useOpenRow } from '../../records/Detail.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { TeamDetail } from './TeamDetail.tsx';
import { type TeamReply, teamsOf } from './team-lists.ts';

const columns: readonly Column<TeamReply>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'text', head: 'What for', isMinor: true, cell: ({ description }) => <bdi>{description}</bdi> },
  { id: 'count', head: 'Members', isNumber: true, cell: ({ users = [] }) => users.length },
  { id: 'default', head: 'New people join', cell: ({ isDefaultTeam }) => (isDefaultTeam ? 'Yes' : 'No') },
];

function NewTeam({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  const { open } = useOpenRow();
  const form = useForm({
    initialValues: { name: '', description: '', isDefaultTeam: false },
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
  const { change, problem } = useChangeForm('createTeam', {
    form,
    refreshes: ['listTeams'],
    onSuccess: ({ id }) => {
      showDone('The team was created');
      onClose();
      open(id);
    },
  });
  return (
    <FormDialog
      title="New team"
      lead="It has no members yet: you add them next."
      verb="Create team"
      isBusy={change.isPending}
      problem={problem}
      onClose={onClose}
      onSubmit={form.onSubmit((values) => change.mutate({ body: { organizationId, ...values } }))}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
      <Checkbox
        label="New people of the organization join it"
        description="Keys do not: they have what they are given."
        {...form.getInputProps('isDefaultTeam', { type: 'checkbox' })}
      />
    </FormDialog>
  );
}

export function TeamsPage() {
  const { organizationId } = useSession();
  const rights = useRights({ organizationId });
  const [isCreating, setCreating] = useState(false);
  const { open, openId, close } = useOpenRow();
  const teams = useRead('listTeams', { params: { organizationId }, query: { limit: 1000 } });
  const whyNot = rights.whyNot('EDIT_ORGANIZATION_SETTINGS');
  const create = callOf('Create a team', 'createTeam', { body: { organizationId, name: 'Platform' } }, [
    'team',
    'create',
    'Platform',
  ]);
  const button = (
    <ActionButton size="xs" whyNot={whyNot} onClick={() => setCreating(true)}>
      New team
    </ActionButton>
  );
  return (
    <Page
      title="Teams"
      lead="Members that have roles together. A person has all roles of all their teams, and their own."
      calls={[
        callOf('List teams', 'listTeams', { params: { organizationId }, query: {} }, ['team', 'list']),
        create,
      ]}
      actions={button}
    >
      <Loaded query={teams}>
        {(page) =>
          teamsOf(page).length === 0 ? (
            <EmptyState title="There is no team yet" call={create} action={button}>
              Give a role to a team once, and everybody who joins it has it.
            </EmptyState>
          ) : (
            <DataTable
              label="Teams"
              columns={columns}
              rows={teamsOf(page)}
              idOf={({ id }) => id}
              onOpen={({ id }) => open(id)}
            />
          )
        }
      </Loaded>
      {openId !== undefined && (
        <TeamDetail key={openId} id={openId} organizationId={organizationId} onClose={close} />
      )}
      {isCreating && <NewTeam organizationId={organizationId} onClose={() => setCreating(false)} />}
    </Page>
  );
}
