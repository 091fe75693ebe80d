/** SQL of teams and their members. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { likeText } from '../../ground/database/like-text.ts';
import { teamIdsAssigned } from '../roles/assignment-store.ts';
import { deleteById, homeOf, rowById, rowsByIds, updateById } from '../row-queries.ts';
import type { TeamTable } from '../schema.ts';

export type TeamRow = Selectable<TeamTable>;

/** View of a team for readers. */
export type ShownTeamRow = Omit<TeamRow, 'created_at' | 'updated_at'>;

/** The teams that a user is a member of: ids, as a part of other statements. */
export function teamIdsOf(db: Connection, userId: string) {
  return db.selectFrom('team_member').select('team_id').where('user_id', '=', userId);
}

/** Takes a user out of all teams of an organization. */
export async function leaveTeams(tx: Connection, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('team_member')
    .where('user_id', '=', userId)
    .where('team_id', 'in', (eb) =>
      eb.selectFrom('team').select('id').where('organization_id', '=', organizationId),
    )
    .execute();
}
/** A place to which teams are assigned, there or above it. */
export interface AssignedTo {
  readonly projectIds: readonly string[];
  readonly environmentId: string | null;
}

export interface TeamFilter {
  readonly organizationId: string;
  /** Prefix of names. */
  readonly name?: string;
  readonly assignedTo: readonly AssignedTo[];
}

function filtered(db: Connection, { organizationId, name, assignedTo }: TeamFilter) {
  let query = db.selectFrom('team').where('organization_id', '=', organizationId);
  if (name !== undefined) query = query.where('name', 'like', `${likeText(name)}%`);
  for (const { projectIds, environmentId } of assignedTo)
    query = query.where('id', 'in', teamIdsAssigned(db, organizationId, projectIds, environmentId));
  return query;
}

/** Newest first: ids sort by age. @param after the last team of the page before; null: the first page */
export async function listTeamRows(
  db: Connection,
  filter: TeamFilter,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<ShownTeamRow[]> {
  return filtered(db, filter)
    .$if(after !== null, (query) => query.where('id', '<', after as string))
    .select(['id', 'organization_id', 'name', 'description', 'is_default', 'created_by'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function countTeams(db: Connection, filter: TeamFilter): Promise<number> {
  const { total } = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** The teams of an organization, oldest first: new ones do not move the others to another page. */
export async function teamsByAge(db: Connection, organizationId: string, limit: number): Promise<TeamRow[]> {
  return db
    .selectFrom('team')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export const getTeamRow = rowById('team');

export const getTeamRows = rowsByIds('team');

export async function insertTeamRow(tx: Connection, values: Insertable<TeamTable>): Promise<TeamRow> {
  return tx.insertInto('team').values(values).returningAll().executeTakeFirstOrThrow();
}

export const updateTeamRow = updateById('team');

/** Its memberships and roles go with it. */
export const deleteTeamRow = deleteById('team');

/** The users of teams, by team; in a fixed order. */
export async function membersOfTeams(
  db: Connection,
  teamIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (teamIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('team_member')
    .select(['team_id', 'user_id'])
    .where('team_id', 'in', [...teamIds])
    .orderBy('user_id')
    .execute();
  const byTeam = Map.groupBy(rows, (row) => row.team_id);
  return new Map([...byTeam].map(([id, members]) => [id, members.map((row) => row.user_id)]));
}

/** The teams of users in an organization, by user; by name. */
export async function teamsOfUsers(
  db: Connection,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Pick<TeamRow, 'id' | 'name'>[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('team_member')
    .innerJoin('team', 'team.id', 'team_member.team_id')
    .select(['team.id', 'team.name', 'team_member.user_id'])
    .where('team.organization_id', '=', organizationId)
    .where('team_member.user_id', 'in', [...userIds])
    .orderBy('team.name')
    .execute();
  const byUser = Map.groupBy(rows, (row) => row.user_id);
  return new Map([...byUser].map(([id, teams]) => [id, teams.map(({ id, name }) => ({ id, name }))]));
}

export async function addTeamMembers(
  tx: Connection,
  teamId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await tx
    .insertInto('team_member')
    .values(userIds.map((userId) => ({ team_id: teamId, user_id: userId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function removeTeamMembers(
  tx: Connection,
  teamId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  await tx
    .deleteFrom('team_member')
    .where('team_id', '=', teamId)
    .where('user_id', 'in', [...userIds])
    .execute();
}

/** Home of a team. */
export const teamHome = homeOf('team');
