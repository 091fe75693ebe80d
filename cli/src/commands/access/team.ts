/** `team`: teams and their members. */
import type { Command } from 'commander';
import type { Team } from '#contract/teams/shapes.ts';
import type { User } from '#contract/users/shapes.ts';
import { onCall, wholeNumber } from '../../call/command-line.ts';
import { findEnvironment, findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { allTeams, findMember, findTeam } from './find-access.ts';

interface ListTeamsFlags {
  readonly name?: string;
  readonly assignedToOrganization?: boolean;
  readonly assignedToProject?: string;
  readonly assignedToEnvironment?: string;
  readonly limit?: number;
}

interface TeamFlags {
  readonly name?: string;
  readonly description?: string;
  readonly default?: boolean;
}

const columns: TableColumn<Team>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'MEMBERS', value: ({ users }) => users?.length },
  { head: 'DEFAULT', value: ({ isDefaultTeam }) => (isDefaultTeam ? 'yes' : ''), isExtra: true },
  { head: 'DESCRIPTION', value: ({ description }) => description, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const memberColumns: TableColumn<User>[] = [
  { head: 'MEMBER', value: ({ name }) => name },
  { head: 'E-MAIL', value: ({ email, app_metadata: { isApiKey } = {} }) => (isApiKey ? '' : email) },
  { head: 'ID', value: ({ user_id: id }) => id, isId: true },
];

async function show({ output, isJson }: CommandSession, team: Team): Promise<void> {
  if (isJson) return output.json(team);
  await output.fields([
    ['Name', team.name],
    ['Id', team.id],
    ['Description', team.description],
    ['Default team', team.isDefaultTeam ? 'yes: new people join it' : undefined],
    ['Created by', team.createdByUser?.name],
  ]);
  await output.line();
  return output.table(team.users ?? [], memberColumns, 'No members.');
}

/** @throws BadCall unless exactly one team has the id or name */
async function teamOf(session: CommandSession, idOrName: string): Promise<Team> {
  return findTeam(session.client, (await findOrganization(session)).id, idOrName);
}

function addList(group: Command): void {
  const list = group
    .command('list')
    .description('list teams, newest first')
    .option('--name <text>', 'only teams whose name begins with this text')
    .option('--assigned-to-organization', 'only teams with a role in the organization')
    .option(
      '--assigned-to-project <project>',
      'only teams with a role in this project, also an inherited one',
    )
    .option(
      '--assigned-to-environment <environment>',
      'only teams with a role in this environment, also an inherited one',
    )
    .option('--limit <count>', 'at most this many (default: all)', wholeNumber('--limit', 1));
  onCall<ListTeamsFlags>(list, async ({ session, options }) => {
    const { client } = session;
    const { id } = await findOrganization(session);
    const { assignedToProject: project, assignedToEnvironment: environment } = options;
    const query = {
      name: options.name,
      assignedToOrganizationId: options.assignedToOrganization ? id : undefined,
      assignedToProjectId: project === undefined ? undefined : (await findProject(client, id, project)).id,
      assignedToEnvironmentId:
        environment === undefined ? undefined : (await findEnvironment(session, environment)).id,
    };
    const teams = await allTeams(client, id, query, options.limit);
    return session.list(teams, columns, 'No teams.');
  });
}

function addChanges(group: Command): void {
  const create = group
    .command('create <name>')
    .description('create a team without members')
    .option('--description <text>', 'what it is for')
    .option('--default', 'new people of the organization join it');
  onCall<TeamFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const { description, default: isDefaultTeam } = options;
    const team = await client.call('createTeam', {
      body: { organizationId, name, description, isDefaultTeam },
    });
    return session.answer(team, () => `Team ${plain(name)} was created: ${team.id}`);
  });
  const update = group
    .command('update <team>')
    .description('change a team; omitted options are unchanged')
    .option('--name <name>', 'new name')
    .option('--description <text>', 'what it is for')
    .option('--default', 'new people of the organization join it')
    .option('--no-default', 'new people no longer join it');
  onCall<TeamFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id } = await teamOf(session, idOrName);
    const { name, description, default: isDefaultTeam } = options;
    const body = { name, description, isDefaultTeam };
    return show(session, await session.client.call('updateTeam', { params: { id }, body }));
  });
  onCall(
    group.command('delete <team>').description('delete a team with its memberships and roles'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await teamOf(session, idOrName);
      const deleted = await session.client.call('deleteTeam', { params: { id } });
      return session.answer(deleted, `Team ${plain(name)} was deleted`);
    },
  );
}

/** Replaces the members; refused if another change was faster. */
async function changeMembers(
  session: CommandSession,
  idOrName: string,
  change: (before: readonly string[]) => string[],
): Promise<void> {
  const { client } = session;
  const { id } = await teamOf(session, idOrName);
  const { reply: team, headers } = await client.send('getTeam', { params: { id } });
  const before = (team.users ?? []).flatMap(({ user_id: userId }) => userId ?? []);
  const ifMatch = headers.get('etag');
  return show(
    session,
    await client.call('updateTeam', {
      params: { id },
      body: { userIds: change(before) },
      ...(ifMatch === null ? {} : { ifMatch }),
    }),
  );
}

async function memberIds(session: CommandSession, members: readonly string[]): Promise<string[]> {
  const { id } = await findOrganization(session);
  return Promise.all(members.map(async (each) => (await findMember(session.client, id, each)).id));
}

function addMembers(group: Command): void {
  const add = group
    .command('add-member <team> <user...>')
    .description('add people and API keys to a team: ids, e-mail addresses or exact names');
  onCall(add, async ({ session, words: [team = '', ...users] }) => {
    const ids = await memberIds(session, users);
    return changeMembers(session, team, (before) => [...new Set([...before, ...ids])]);
  });
  const remove = group
    .command('remove-member <team> <user...>')
    .description('remove people and API keys from a team');
  onCall(remove, async ({ session, words: [team = '', ...users] }) => {
    const ids = await memberIds(session, users);
    return changeMembers(session, team, (before) => {
      const missing = ids.findIndex((id) => !before.includes(id));
      if (missing >= 0) throw new BadCall(`"${users[missing]}" is not a member of the team "${team}".`);
      return before.filter((id) => !ids.includes(id));
    });
  });
}

export function addTeamCommands(program: Command): void {
  const group = program.command('team').alias('teams').description('teams of people and API keys');
  addList(group);
  onCall(
    group.command('show <team>').description('show a team with its members: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await teamOf(session, idOrName);
      return show(session, await session.client.call('getTeam', { params: { id } }));
    },
  );
  addChanges(group);
  addMembers(group);
}
