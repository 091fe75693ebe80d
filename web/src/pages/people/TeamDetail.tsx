/** One team: its members, its settings, and its end. Two people may edit it: a change names the version it read. */
import { ActionIcon, Checkbox, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { isStatus } from '../../api/errors.ts';
import { showDone } from '../../api/messages.ts';
import { refresh, type Tagged, useChange, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { MemberSelect } from '../../records/choosers.tsx';
import { Detail } from '../../records/Detail.tsx';
import { Part } from '../../records/Part.tsx';
import { Person } from '../../records/person.tsx';
import { Removal } from '../../records/Removal.tsx';
import classes from '../../records/records.module.css';
import { SaveButton } from '../../records/SaveButton.tsx';
import { StaleAlert } from '../../records/StaleAlert.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { settle, useEdited } from '../../records/use-edited.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { TeamRoles } from './TeamRoles.tsx';
import type { TeamReply } from './team-lists.ts';

interface TeamPartProps {
  readonly team: TeamReply;
  readonly version: string | undefined;
  readonly whyNot: string | undefined;
}

const concerned = ['listTeams', 'getTeam', 'explainPermissions'] as const;

/** The form shows why it is refused; where somebody else was faster, their members are read. */
function onRefused(error: unknown): boolean {
  if (isStatus(error, 412)) void refresh(concerned);
  return true;
}

function Members({ team, version, whyNot }: TeamPartProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const change = useChange('updateTeam', { refreshes: concerned, onError: onRefused });
  const ids = (team.users ?? []).map(({ user_id }) => user_id ?? '');
  const set = (userIds: string[]) =>
    change.mutate(
      { params: { id: team.id }, body: { userIds }, ifMatch: version },
      { onSuccess: () => setChosen(null) },
    );
  return (
    <>
      <FormAlert mb="md" error={change.error} />
      <ul className={classes.list}>
        {(team.users ?? []).map((user) => (
          <li key={user.user_id}>
            <span>
              <Person user={user} />
            </span>
            <ActionIcon
              variant="subtle"
              aria-label={`Remove ${user.name ?? user.email} from the team`}
              disabled={whyNot !== undefined || change.isPending}
              onClick={() => set(ids.filter((id) => id !== user.user_id))}
            >
              ×
            </ActionIcon>
          </li>
        ))}
        {ids.length === 0 && <li>Nobody is in this team yet.</li>}
      </ul>
      <Group align="end" mt="sm" wrap="nowrap">
        <MemberSelect
          label="Add a member"
          placeholder="Person or key"
          value={chosen}
          onChange={setChosen}
          style={{ flex: 1 }}
        />
        <ActionButton
          variant="default"
          loading={change.isPending}
          whyNot={
            whyNot ??
            (chosen === null
              ? 'Choose a person first.'
              : ids.includes(chosen)
                ? 'This member is in the team already.'
                : undefined)
          }
          onClick={() => set([...ids, chosen!])}
        >
          Add
        </ActionButton>
      </Group>
    </>
  );
}

const valuesOf = ({ name, description = '', isDefaultTeam = false }: TeamReply) => ({
  name,
  description,
  isDefaultTeam,
});

function Settings({ found, whyNot }: { found: Tagged<TeamReply>; whyNot: string | undefined }) {
  const form = useForm({
    initialValues: valuesOf(found.data),
    validate: { name: (name) => (name.trim() === '' ? 'A name is needed.' : null) },
  });
  const edited = useEdited(found, form, valuesOf);
  const { change, problem } = useChangeForm('updateTeam', {
    form,
    refreshes: concerned,
    onSuccess: (_reply, _input, sent) => {
      settle(form, sent);
      showDone('The team was changed');
    },
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((body) =>
        change.mutate({ params: { id: found.data.id }, body, ifMatch: edited.version() }),
      )}
    >
      <StaleAlert error={problem} onShow={edited.showLatest} />
      <Stack gap="sm">
        <TextInput label="Name" required {...form.getInputProps('name')} />
        <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
        <Checkbox
          label="New people of the organization join it"
          {...form.getInputProps('isDefaultTeam', { type: 'checkbox' })}
        />
        <SaveButton isDirty={form.isDirty()} isBusy={change.isPending} whyNot={whyNot} />
      </Stack>
    </form>
  );
}

export interface TeamDetailProps {
  readonly id: string;
  readonly organizationId: string;
  readonly onClose: () => void;
}

export function TeamDetail({ id, organizationId, onClose }: TeamDetailProps) {
  const found = useTagged('getTeam', { params: { id } });
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  return (
    <Detail title={found.data?.data.name ?? 'Team'} onClose={onClose}>
      <Loaded query={found}>
        {({ data: team, etag }) => (
          <>
            <Part title="Members">
              <Members team={team} version={etag} whyNot={whyNot} />
            </Part>
            <TeamRoles teamId={id} organizationId={organizationId} />
            <Part title="Settings">
              <Settings found={{ data: team, etag }} whyNot={whyNot} />
            </Part>
            <div>
              <Removal
                operation="deleteTeam"
                input={{ params: { id } }}
                refreshes={['listTeams', 'listTeamRoles', 'explainPermissions']}
                label="Delete team"
                question={`Delete ${team.name}?`}
                done="The team was deleted"
                whyNot={whyNot}
                onDone={onClose}
              >
                <p>Its members lose the roles that only it gave them.</p>
              </Removal>
            </div>
          </>
        )}
      </Loaded>
    </Detail>
  );
}
