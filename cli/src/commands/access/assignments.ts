/** Roles in an organization, a project or an environment, as part of `role`. */
import type { Command } from 'commander';
import type { RoleAssignment, TeamRoleAssignment } from '#contract/roles/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findEnvironment, findOrganization, findProject } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { allTeams, findMember, findTeam, roleNames, roleText } from './find-access.ts';

export interface RolePlaceFlags {
  readonly project?: string;
  readonly environment?: string;
}

interface HolderFlags extends RolePlaceFlags {
  readonly user?: string;
  readonly team?: string;
}

interface HoldersFlags {
  readonly inherited?: boolean;
}

type PlaceField =
  | { readonly organizationId: string }
  | { readonly projectId: string }
  | { readonly environmentId: string };

interface AssignedPlace {
  readonly organizationId: string;
  readonly field: PlaceField;
  readonly name: string;
}

interface AssignedRoleRow {
  readonly kind: string;
  readonly holder: string | undefined;
  readonly role: string;
  readonly by?: string | undefined;
  readonly place?: string | undefined;
  readonly id: string;
}

/** The options that say where a role is assigned. */
export function withPlace(command: Command): Command {
  return command
    .option('--project <project>', 'in this project and below (default: in the organization)')
    .option('-e, --environment <environment>', 'in this environment');
}

/** @throws BadCall for both a project and an environment */
export async function placeOf(
  session: CommandSession,
  { project, environment }: RolePlaceFlags,
): Promise<AssignedPlace> {
  if (project !== undefined && environment !== undefined)
    throw new BadCall('--project and --environment exclude each other.');
  const organization = await findOrganization(session);
  const { id: organizationId } = organization;
  if (project !== undefined) {
    const { id, name } = await findProject(session.client, organizationId, project);
    return { organizationId, field: { projectId: id }, name: `project ${name}` };
  }
  if (environment !== undefined) {
    const { id, name } = await findEnvironment(session, environment);
    return { organizationId, field: { environmentId: id }, name: `environment ${name}` };
  }
  return { organizationId, field: { organizationId }, name: `organization ${organization.name}` };
}

interface NamedHolder {
  readonly isTeam: boolean;
  readonly id: string;
  readonly name: string;
}

/** @throws BadCall unless exactly one of user and team is specified */
async function holderOf(
  session: CommandSession,
  organizationId: string,
  flags: HolderFlags,
): Promise<NamedHolder> {
  const { user, team } = flags;
  if ((user === undefined) === (team === undefined)) throw new BadCall('Specify either --user or --team.');
  const found =
    team === undefined
      ? await findMember(session.client, organizationId, user ?? '')
      : await findTeam(session.client, organizationId, team);
  return { isTeam: team !== undefined, id: found.id, name: found.name };
}

function addAssign(group: Command): void {
  const assign = withPlace(
    group
      .command('assign <role>')
      .description(
        'assign a role to a user or team; replaces the role that it has there. Built-in roles: Admin, User in the organization; Admin, Deployer, Planner, Viewer elsewhere',
      )
      .option('--user <user>', 'person or API key: id, e-mail address or exact name')
      .option('--team <team>', 'team: id or exact name'),
  );
  onCall<HolderFlags>(assign, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const { organizationId, field, name } = await placeOf(session, options);
    const holder = await holderOf(session, organizationId, options);
    const role = await roleText(client, organizationId, idOrName);
    const assigned = holder.isTeam
      ? await client.call('assignTeamRole', { body: { teamId: holder.id, role, ...field } })
      : await client.call('assignUserRole', { body: { userId: holder.id, role, ...field } });
    return session.answer(
      assigned,
      `${plain(holder.name)} has the role ${plain(idOrName)} in ${plain(name)}`,
    );
  });
}

function addUnassign(group: Command): void {
  const unassign = withPlace(
    group
      .command('unassign')
      .description(
        'remove the role that a user or team has there; in the organization, a user is a User again',
      )
      .option('--user <user>', 'person or API key: id, e-mail address or exact name')
      .option('--team <team>', 'team: id or exact name'),
  );
  onCall<HolderFlags>(unassign, async ({ session, options }) => {
    const { client } = session;
    const { organizationId, field, name } = await placeOf(session, options);
    const holder = await holderOf(session, organizationId, options);
    const removed = holder.isTeam
      ? await client.call('removeTeamRole', { query: { teamId: holder.id, ...field } })
      : await client.call('removeUserRole', { query: { userId: holder.id, ...field } });
    const has = removed === null ? 'has no role' : 'no longer has a role';
    return session.answer(removed, `${plain(holder.name)} ${has} of its own in ${plain(name)}`);
  });
}

const columns: TableColumn<AssignedRoleRow>[] = [
  { head: 'KIND', value: ({ kind }) => kind, isWhole: true },
  { head: 'WHO', value: ({ holder }) => holder },
  { head: 'ROLE', value: ({ role }) => role },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const holderColumns: TableColumn<AssignedRoleRow>[] = [
  { head: 'USER', value: ({ holder }) => holder },
  { head: 'ROLE', value: ({ role }) => role },
  { head: 'BY TEAM', value: ({ by }) => by },
  { head: 'IN', value: ({ place }) => place },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const userName = ({ user, userId }: RoleAssignment) => user?.name ?? user?.email ?? userId;
const kindOf = ({ user }: RoleAssignment) => (user?.app_metadata?.isApiKey ? 'key' : 'person');

async function teamNames(session: CommandSession, organizationId: string): Promise<Map<string, string>> {
  const teams = await allTeams(session.client, organizationId, { excludeFields: 'users' });
  return new Map(teams.map(({ id, name }) => [id, name]));
}

async function showAssigned(
  session: CommandSession,
  organizationId: string,
  { users, teams }: { readonly users: RoleAssignment[]; readonly teams: TeamRoleAssignment[] },
): Promise<void> {
  const roles = [...users, ...teams].map(({ role }) => role);
  const nameOf = await roleNames(session.client, organizationId, roles);
  const names = teams.length > 0 ? await teamNames(session, organizationId) : new Map<string, string>();
  const rows = [
    ...teams.map(({ teamId, role }) => ({
      kind: 'team',
      holder: names.get(teamId) ?? teamId,
      role: nameOf(role),
      id: teamId,
    })),
    ...users.map((each) => ({
      kind: kindOf(each),
      holder: userName(each),
      role: nameOf(each.role),
      id: each.userId,
    })),
  ];
  return session.output.table(rows, columns, 'No roles are assigned there.');
}

function addAssignments(group: Command): void {
  const list = withPlace(
    group
      .command('assignments')
      .description('list the roles of users and teams that are assigned there, without inherited ones'),
  );
  onCall<RolePlaceFlags>(list, async ({ session, options }) => {
    const { organizationId, field } = await placeOf(session, options);
    const [users, teams] = await Promise.all([
      session.client.call('listUserRoles', { query: field }),
      session.client.call('listTeamRoles', { query: field }),
    ]);
    return session.isJson
      ? session.output.json({ users, teams })
      : showAssigned(session, organizationId, { users, teams });
  });
}

async function showHolders(
  session: CommandSession,
  organizationId: string,
  all: readonly RoleAssignment[],
): Promise<void> {
  const { client, output } = session;
  const nameOf = await roleNames(
    client,
    organizationId,
    all.map(({ role }) => role),
  );
  const isByTeam = all.some(({ teamId }) => teamId !== undefined);
  const teams = isByTeam ? await teamNames(session, organizationId) : new Map<string, string>();
  const known = await client.call('listProjects', { query: { organizationId } });
  const projects = new Map(known.map(({ id, name }) => [id, name]));
  const rows = all.map((each) => ({
    kind: kindOf(each),
    holder: userName(each),
    role: nameOf(each.role),
    by: each.teamId && (teams.get(each.teamId) ?? each.teamId),
    place: each.projectId && (projects.get(each.projectId) ?? each.projectId),
    id: each.userId,
  }));
  return output.table(rows, holderColumns, 'No one has a role there.');
}

function addHolders(group: Command): void {
  const holders = group
    .command('holders <project>')
    .description('show which users have which role in a project, directly or by a team')
    .option('--inherited', 'also by the projects above');
  onCall<HoldersFlags>(holders, async ({ session, args: [idOrName = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { id: projectId } = await findProject(session.client, organizationId, idOrName);
    const query = { includeInherited: options.inherited };
    const all = await session.client.call('listProjectPermissions', { params: { projectId }, query });
    return session.isJson ? session.output.json(all) : showHolders(session, organizationId, all);
  });
}

/** @param group the commands of roles */
export function addAssignmentCommands(group: Command): void {
  addAssign(group);
  addUnassign(group);
  addAssignments(group);
  addHolders(group);
}
