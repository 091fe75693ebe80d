/** Identity providers create, change and delete teams of an organization. */
import type { ActorContext } from '../../framework/context.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { isNameTaken } from '../../ground/database/is-name-taken.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import { membersAmong } from '../../rows/organizations/member-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { putScimGroup } from '../../rows/scim/scim-store.ts';
import { membersOfTeams } from '../../rows/teams/team-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { createTeam, deleteTeam, updateTeam } from '../teams/change-team.ts';
import { findGroup } from './list-groups.ts';
import { isPerson } from './list-users.ts';
import { applyPatch } from './patch.ts';
import { readGroup } from './read-values.ts';
import type { GroupResource, GroupValues } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';

async function requireFreeName(
  { db }: ActorContext,
  organizationId: string,
  id: string,
  name: string,
): Promise<void> {
  if (await isNameTaken(db, 'team', { id, organization_id: organizationId, name }))
    throw new ScimRefusal('uniqueness', `A group with the displayName "${name}" already exists`, 'conflict');
}

/** Ids of the members. @throws ScimRefusal 400 for one who is not in the organization */
async function memberIds(
  { db }: ActorContext,
  organizationId: string,
  { members }: GroupValues,
): Promise<string[]> {
  const ids = members.map(({ value }) => value);
  const known = await membersAmong(db, organizationId, ids);
  const users = await getUsers(db, [...known]);
  const invalidId = ids.find((id) => !isPerson(users.get(id)));
  if (invalidId !== undefined)
    throw new ScimRefusal('invalidValue', `members has "${invalidId}", which is the id of no user`);
  return ids;
}

async function requireGroup(request: ScimRequest, { db }: ActorContext, id: string): Promise<GroupResource> {
  return orNotFound(await findGroup(request, id, db), 'group', id);
}

function storeExternalId({ db }: ActorContext, id: string, { externalId }: GroupValues): Promise<void> {
  return putScimGroup(db, { team_id: id, external_id: externalId ?? null });
}

/** @throws ScimRefusal 409 for a name that a team has already, 400 for an unknown member */
export async function createGroup(request: ScimRequest, body: unknown): Promise<GroupResource> {
  const values = readGroup(body);
  const { organizationId } = request;
  return inTransaction(request.context, async (context) => {
    await lockOrganizationRow(context.db, organizationId);
    await requireFreeName(context, organizationId, context.newId(), values.displayName);
    const userIds = await memberIds(context, organizationId, values);
    const { id } = await createTeam(context, { organizationId, name: values.displayName });
    if (userIds.length > 0) await updateTeam(context, id, { userIds });
    await storeExternalId(context, id, values);
    return requireGroup(request, context, id);
  });
}

async function change(
  request: ScimRequest,
  id: string,
  read: (before: GroupResource) => GroupValues,
): Promise<GroupResource> {
  const { organizationId } = request;
  return inTransaction(request.context, async (context) => {
    await lockOrganizationRow(context.db, organizationId);
    const before = await requireGroup(request, context, id);
    const values = read(before);
    await requireFreeName(context, organizationId, id, values.displayName);
    const userIds = await memberIds(context, organizationId, values);
    // The provider does not see the keys of the team: they stay.
    const people = new Set(before.members.map(({ value }) => value));
    const all = (await membersOfTeams(context.db, [id])).get(id) ?? [];
    const keys = all.filter((userId) => !people.has(userId));
    await updateTeam(context, id, { name: values.displayName, userIds: [...keys, ...userIds] });
    await storeExternalId(context, id, values);
    return requireGroup(request, context, id);
  });
}

/** @throws Refusal 404, ScimRefusal as `createGroup` */
export function replaceGroup(request: ScimRequest, id: string, body: unknown): Promise<GroupResource> {
  return change(request, id, () => readGroup(body));
}

/** The same for a PATCH. */
export function patchGroup(request: ScimRequest, id: string, body: unknown): Promise<GroupResource> {
  return change(request, id, (before) => readGroup(applyPatch(before, 'Group', body)));
}

/** Its members stay in the organization. @throws Refusal 404 */
export async function deleteGroup(request: ScimRequest, id: string): Promise<void> {
  await inTransaction(request.context, async (context) => {
    await requireGroup(request, context, id);
    await deleteTeam(context, id);
  });
}
