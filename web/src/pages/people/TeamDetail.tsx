/** One team: its members, its settings, and its end. Two people may edit it: a change names the version it read. */
import { ActionIcon, Checkbox, Group, Textarea } from '@mantine/core';
import { useState } from 'react';
import { type Tagged, useChange, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { MemberSelect } from '../../records/choosers.tsx';
import { Part } from '../../records/Part.tsx';
import { Person } from '../../records/person.tsx';
import { RecordDetail } from '../../records/RecordDetail.tsx';
import { RecordForm } from '../../records/RecordForm.tsx';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { TeamRoles } from './TeamRoles.tsx';
import type { TeamReply } from './team-lists.ts';

interface TeamPartProps {
  readonly record: Tagged<TeamReply>;
  readonly whyNot: string | undefined;
}

const concerned = ['listTeams', 'getTeam', 'explainPermissions'] as const;

function Members({ record: { data: team, etag }, whyNot }: TeamPartProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const change = useChange('updateTeam', { refreshes: concerned, onError: () => true });
  const ids = (team.users ?? []).map(({ user_id }) => user_id ?? '');
  const set = (userIds: string[]) =>
    change.mutate(
      { params: { id: team.id }, body: { userIds }, ifMatch: etag },
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
        {ids.length === 0 && <li>This team has no members yet.</li>}
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

function Settings({ record, whyNot }: TeamPartProps) {
  return (
    <RecordForm
      record={record}
      valuesOf={valuesOf}
      validate={{ name: validateName }}
      operation="updateTeam"
      refreshes={concerned}
      inputOf={(body) => ({ params: { id: record.data.id }, body })}
      done="The team was changed"
      whyNot={whyNot}
    >
      {(form) => (
        <>
          <NameField {...form.getInputProps('name')} />
          <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
          <Checkbox
            label="New people of the organization join it"
            {...form.getInputProps('isDefaultTeam', { type: 'checkbox' })}
          />
        </>
      )}
    </RecordForm>
  );
}

export interface TeamDetailProps {
  readonly id: string;
  readonly organizationId: string;
  readonly onClose: () => void;
}

export function TeamDetail({ id, organizationId, onClose }: TeamDetailProps) {
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  return (
    <RecordDetail
      query={useTagged('getTeam', { params: { id } })}
      noun="team"
      facts={(record) => (
        <>
          <Part title="Members">
            <Members record={record} whyNot={whyNot} />
          </Part>
          <TeamRoles teamId={id} organizationId={organizationId} />
        </>
      )}
      settings={(record) => <Settings record={record} whyNot={whyNot} />}
      removal={{
        operation: 'deleteTeam',
        input: { params: { id } },
        refreshes: ['listTeams', 'listTeamRoles', 'explainPermissions'],
      }}
      meaning="Its members lose the roles that only it gave them."
      whyNot={whyNot}
      onClose={onClose}
    />
  );
}
