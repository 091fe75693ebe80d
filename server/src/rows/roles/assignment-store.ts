/** SQL of the roles that users and teams are assigned. Users have theirs in an organization as its members. */
import { type Selectable, sql } from 'kysely';
import type { ActorContext, Connection } from '../../framework/context.ts';
import type { Place } from '../places.ts';
import { deleteById, rowById, rowsWhere } from '../row-queries.ts';
import type { RoleAssignmentTable } from '../schema.ts';

export type RoleAssignmentRow = Selectable<RoleAssignmentTable>;

/** Holder of a role. */
export type RoleHolder = { readonly userId: string } | { readonly teamId: string };

function rowsAt(db: Connection, { organizationId, projectId, environmentId }: Place) {
  const query = db.selectFrom('role_assignment').selectAll().where('organization_id', '=', organizationId);
  if (environmentId !== null) return query.where('environment_id', '=', environmentId);
  return projectId === null
    ? query.where('project_id', 'is', null).where('environment_id', 'is', null)
    : query.where('project_id', '=', projectId);
}

/** Assignments to users or teams exactly there, newest first. */
export async function assignmentsAt(
  db: Connection,
  place: Place,
  holders: 'users' | 'teams',
): Promise<RoleAssignmentRow[]> {
  return rowsAt(db, place)
    .where(holders === 'users' ? 'user_id' : 'team_id', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Assignments to users and teams in projects, newest first. */
export async function assignmentsInProjects(
  db: Connection,
  projectIds: readonly string[],
): Promise<RoleAssignmentRow[]> {
  if (projectIds.length === 0) return [];
  return db
    .selectFrom('role_assignment')
    .selectAll()
    .where('project_id', 'in', [...projectIds])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export async function findAssignment(
  db: Connection,
  place: Place,
  holder: RoleHolder,
): Promise<RoleAssignmentRow | undefined> {
  const rows = rowsAt(db, place);
  return (
    'userId' in holder ? rows.where('user_id', '=', holder.userId) : rows.where('team_id', '=', holder.teamId)
  ).executeTakeFirst();
}

export const getAssignment = rowById('role_assignment');

export const assignmentsOfTeam = rowsWhere('role_assignment', 'team_id');

/** Holders of a custom role, oldest assignment first. */
export const assignmentsOfRole = rowsWhere('role_assignment', 'role_id', 'created_at', 'id');

/** The caller has checked under a lock that the holder has no role there. */
export async function insertAssignment(
  tx: Connection,
  { newId, actor, now }: Pick<ActorContext, 'newId' | 'actor' | 'now'>,
  place: Place,
  holder: RoleHolder,
  granted: { readonly role: string; readonly roleId: string | null },
): Promise<RoleAssignmentRow> {
  return tx
    .insertInto('role_assignment')
    .values({
      id: newId(),
      organization_id: place.organizationId,
      user_id: 'userId' in holder ? holder.userId : null,
      team_id: 'teamId' in holder ? holder.teamId : null,
      project_id: place.environmentId === null ? place.projectId : null,
      environment_id: place.environmentId,
      role: granted.role,
      role_id: granted.roleId,
      created_by: actor.userId,
      created_at: now(),
      updated_at: now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Another role in the same assignment. What a person assigns is no longer kept in step by a source. */
export async function updateAssignment(
  tx: Connection,
  id: string,
  granted: { readonly role: string; readonly roleId: string | null },
  at: Date,
): Promise<RoleAssignmentRow> {
  return tx
    .updateTable('role_assignment')
    .set({ role: granted.role, role_id: granted.roleId, source: null, updated_at: at })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export const deleteAssignment = deleteById('role_assignment');

/**
 * The teams with a role in an organization as a whole, in one of some projects or in an environment: ids, as a part
 * of other statements.
 */
export function teamIdsAssigned(
  db: Connection,
  organizationId: string,
  projectIds: readonly string[],
  environmentId: string | null,
) {
  return db
    .selectFrom('role_assignment')
    .select('team_id')
    .where('organization_id', '=', organizationId)
    .where('team_id', 'is not', null)
    .where((eb) =>
      eb.or([
        eb.and([eb('project_id', 'is', null), eb('environment_id', 'is', null)]),
        eb('project_id', '=', sql<string>`any(${projectIds}::uuid[])`),
        ...(environmentId === null ? [] : [eb('environment_id', '=', environmentId)]),
      ]),
    );
}

/** Home of the assignment of a team in an organization or a project. */
export async function teamAssignmentHome(db: Connection, id: string): Promise<Place | undefined> {
  const row = await getAssignment(db, id);
  if (!row?.team_id || row.environment_id !== null) return undefined;
  return { organizationId: row.organization_id, projectId: row.project_id, environmentId: null };
}
