/** Makes, changes and deletes teams. */
import type { CreateTeamBody, UpdateTeamBody } from '#contract/teams/operations.ts';
import type { Team } from '#contract/teams/shapes.ts';
import { findRole, requireRights } from '../../framework/access/grant.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { isNameTaken } from '../../ground/database/is-name-taken.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound, unknownEntity } from '../../ground/errors.ts';
import { environmentHome } from '../../rows/environments/environment-store.ts';
import { membersAmong } from '../../rows/organizations/member-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import { inOrganization, inProject } from '../../rows/places.ts';
import { assignmentsOfTeam, type RoleAssignmentRow } from '../../rows/roles/assignment-store.ts';
import {
  addTeamMembers,
  deleteTeamRow,
  getTeamRow,
  insertTeamRow,
  membersOfTeams,
  removeTeamMembers,
  type TeamRow,
  updateTeamRow,
} from '../../rows/teams/team-store.ts';
import { teamView } from './team-view.ts';

function audited({ name, description, is_default: isDefaultTeam }: TeamRow) {
  return { name, description, isDefaultTeam };
}

async function requireFreeName({ db }: ActorContext, row: Pick<TeamRow, 'id' | 'organization_id' | 'name'>) {
  if (await isNameTaken(db, 'team', row))
    throw conflict(`A team named "${row.name}" already exists: choose another name`);
}

/** The right was checked. @throws Refusal 409 for a taken name */
export async function createTeam(context: ActorContext, body: CreateTeamBody): Promise<Team> {
  return inTransaction(context, async (context) => {
    const { organizationId } = body;
    await lockOrganizationRow(context.db, organizationId);
    const now = context.now();
    const values = {
      id: context.newId(),
      organization_id: organizationId,
      name: body.name,
      description: body.description ?? '',
      is_default: body.isDefaultTeam ?? false,
      created_by: context.actor.userId,
      created_at: now,
      updated_at: now,
    };
    await requireFreeName(context, values);
    const row = await insertTeamRow(context.db, values);
    await recordAudit(context, {
      organizationId,
      action: 'team.created',
      entityId: row.id,
      ...changesOf(null, audited(row)),
    });
    return teamView(context.db, row);
  });
}

/** The team, whose members and roles are locked until the transaction ends. @throws Refusal 404 */
export async function lockTeam(db: Connection, id: string): Promise<TeamRow> {
  const found = orNotFound(await getTeamRow(db, id), 'team', id);
  await lockOrganizationRow(db, found.organization_id);
  return orNotFound(await getTeamRow(db, id), 'team', id);
}

type AssignedRole = Pick<RoleAssignmentRow, 'organization_id' | 'project_id' | 'environment_id' | 'role'>;

async function placeOf({ db }: ActorContext, row: AssignedRole): Promise<Place> {
  const { organization_id, project_id, environment_id } = row;
  const place = environment_id === null ? undefined : await environmentHome(db, environment_id);
  if (place) return place;
  return project_id === null
    ? inOrganization(organization_id)
    : inProject({ organization_id, id: project_id });
}

/** @param why what gives the roles to a user @throws MissingRight 403 */
export async function requireRightsOfRoles(
  context: ActorContext,
  rows: readonly AssignedRole[],
  why: string,
): Promise<void> {
  for (const row of rows) {
    const place = await placeOf(context, row);
    const role = await findRole(context.db, place, row.role);
    requireRights(context.actor, place, role?.rights ?? [], why);
  }
}

/** New members of a team get its roles, and former ones lose them. @param why what it takes them for @throws MissingRight 403 */
async function requireRightsOfTeam(context: ActorContext, team: TeamRow, why: string): Promise<void> {
  await requireRightsOfRoles(context, await assignmentsOfTeam(context.db, team.id), why);
}

/** @throws Refusal 400 that names an id outside of the organization */
async function requireMembers(
  { db }: ActorContext,
  organizationId: string,
  userIds: readonly string[],
): Promise<void> {
  const members = await membersAmong(db, organizationId, userIds);
  const unknown = userIds.findIndex((id) => !members.has(id));
  if (unknown >= 0) throw unknownEntity(`body.userIds.${unknown}`, 'member of the organization');
}

/** The right was checked. @throws Refusal 400 for no member, 403 as `requireRightsOfTeam`, 409 for a taken name */
export async function updateTeam(context: ActorContext, id: string, body: UpdateTeamBody): Promise<Team> {
  return inTransaction(context, async (context) => {
    const team = await lockTeam(context.db, id);
    const name = body.name ?? team.name;
    const isRenamed = name !== team.name;
    if (isRenamed) await requireFreeName(context, { ...team, name });
    const before = (await membersOfTeams(context.db, [id])).get(id) ?? [];
    const after = body.userIds ? [...new Set(body.userIds)] : before;
    const added = after.filter((userId) => !before.includes(userId));
    const removed = before.filter((userId) => !after.includes(userId));
    await requireMembers(context, team.organization_id, body.userIds ?? []);
    const isDefault = body.isDefaultTeam ?? team.is_default;
    const becomesDefault = isDefault && !team.is_default;
    // Rules about a claim let people join by the name.
    if (added.length > 0 || becomesDefault || isRenamed)
      await requireRightsOfTeam(context, team, `Letting others join the team "${team.name}"`);
    if (removed.length > 0)
      await requireRightsOfTeam(context, team, `Removing members of the team "${team.name}"`);
    if (team.is_default && !isDefault)
      await requireRightsOfTeam(context, team, `Keeping new people out of the team "${team.name}"`);
    await addTeamMembers(context.db, id, added);
    await removeTeamMembers(context.db, id, removed);
    const changed = await updateTeamRow(context.db, id, {
      name,
      description: body.description ?? team.description,
      is_default: isDefault,
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId: team.organization_id,
      action: 'team.updated',
      entityId: id,
      details: { added, removed },
      ...changesOf(audited(team), audited(changed)),
    });
    return teamView(context.db, changed);
  });
}

/** The right was checked. @throws MissingRight 403 where the team has roles with rights that the caller does not have */
export async function deleteTeam(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const team = await lockTeam(context.db, id);
    await requireRightsOfTeam(context, team, `Deleting the team "${team.name}"`);
    await deleteTeamRow(context.db, id);
    await recordAudit(context, {
      organizationId: team.organization_id,
      action: 'team.deleted',
      entityId: id,
      ...changesOf(audited(team), null),
    });
    return { id };
  });
}
