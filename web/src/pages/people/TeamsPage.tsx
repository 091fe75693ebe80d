/** Teams: members that have roles together. */
import { Checkbox, Textarea } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { NameField } from '../../forms/NameFields.tsx';
import { validateName } from '../../forms/validate-name.ts';
import { OpenLink } from '../../records/Detail.tsx';
import { NewRecord } from '../../records/NewRecord.tsx';
import { RecordsPage } from '../../records/RecordsPage.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column } from '../../ui/DataTable.tsx';
import { TeamDetail } from './TeamDetail.tsx';
import { type TeamReply, teamsOf } from './team-lists.ts';

const columns: readonly Column<TeamReply>[] = [
  { id: 'name', head: 'Name', cell: ({ id, name }) => <OpenLink id={id}>{name}</OpenLink> },
  { id: 'text', head: 'What for', isMinor: true, cell: ({ description }) => <bdi>{description}</bdi> },
  { id: 'count', head: 'Members', isNumber: true, cell: ({ users = [] }) => users.length },
  { id: 'default', head: 'New people join', cell: ({ isDefaultTeam }) => (isDefaultTeam ? 'Yes' : 'No') },
];

function NewTeam({ organizationId, onClose }: { organizationId: string; onClose: () => void }) {
  return (
    <NewRecord
      title="New team"
      lead="It has no members yet: you add them next."
      verb="Create team"
      done="The team was created"
      operation="createTeam"
      refreshes={['listTeams']}
      initialValues={{ name: '', description: '', isDefaultTeam: false }}
      validate={{ name: validateName }}
      inputOf={(values) => ({ body: { organizationId, ...values } })}
      idOf={({ id }) => id}
      onClose={onClose}
    >
      {(form) => (
        <>
          <NameField data-autofocus {...form.getInputProps('name')} />
          <Textarea label="What for" autosize minRows={2} {...form.getInputProps('description')} />
          <Checkbox
            label="New people of the organization join it"
            description="Keys do not: add them yourself."
            {...form.getInputProps('isDefaultTeam', { type: 'checkbox' })}
          />
        </>
      )}
    </NewRecord>
  );
}

export function TeamsPage() {
  const { organizationId } = useSession();
  const whyNot = useRights({ organizationId }).whyNot('EDIT_ORGANIZATION_SETTINGS');
  const params = { organizationId };
  const create = callOf('Create a team', 'createTeam', { body: { organizationId, name: 'Platform' } }, [
    'team',
    'create',
    'Platform',
  ]);
  return (
    <RecordsPage
      title="Teams"
      lead="Members that share roles. A person has all roles of all their teams, and their own."
      calls={[callOf('List teams', 'listTeams', { params, query: {} }, ['team', 'list']), create]}
      verb="New team"
      whyNot={whyNot}
      query={useRead('listTeams', { params, query: { limit: 1000 } })}
      rowsOf={teamsOf}
      columns={columns}
      idOf={({ id }) => id}
      empty={['No teams yet', 'Give a role to a team once, and everyone who joins has it.']}
      detail={(id, onClose) => <TeamDetail id={id} organizationId={organizationId} onClose={onClose} />}
      dialog={(onClose) => <NewTeam organizationId={organizationId} onClose={onClose} />}
    />
  );
}
