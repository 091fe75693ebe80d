/** People of an organization as resources of SCIM. */
import type { ActorContext } from '../../framework/context.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { listMemberRows } from '../../rows/organizations/member-store.ts';
import { getMembership, type MembershipRow } from '../../rows/organizations/membership-store.ts';
import type { UserAttributes } from '../../rows/scim/columns.ts';
import { type ScimUserRow, scimUsersOf, usersWithExternalId } from '../../rows/scim/scim-store.ts';
import { findPersonByEmail } from '../../rows/users/person-store.ts';
import { getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { type Filter, matches, parseFilter, pathsOf, requiredValue } from './filter.ts';
import { listResponse, pageOf, selection, textOf } from './page.ts';
import { RequestBudget } from './request-budget.ts';
import { type UserResource, userSchema } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';

/** Members of larger organizations are found by userName, id and externalId only. */
const mostFiltered = 20_000;

/** Filters of people. */
export const userPaths = pathsOf([
  'id',
  'userName',
  'externalId',
  'displayName',
  'name.formatted',
  'name.givenName',
  'name.familyName',
  'active',
  'emails',
  'emails.value',
  'emails.type',
  'emails.primary',
  'meta.created',
  'meta.lastModified',
]);

/** Keys are members, too, but they are not provisioned. */
export function isPerson(user: UserRow | undefined): user is UserRow {
  return user !== undefined && !user.is_api_key && user.email !== '' && user.deleted_at === null;
}

/** Of a member that no provider has touched. */
function attributesOf({ name, given_name, family_name, email }: UserRow): UserAttributes {
  const names = {
    ...(given_name === null ? {} : { givenName: given_name }),
    ...(family_name === null ? {} : { familyName: family_name }),
  };
  return {
    ...(given_name === null && family_name === null ? {} : { name: names }),
    displayName: name,
    emails: [{ value: email, type: 'work', primary: true }],
  };
}

function resourceOf(
  address: string,
  member: MembershipRow,
  user: UserRow,
  row: ScimUserRow | undefined,
): UserResource {
  const modified = [user.updated_at, row?.updated_at ?? user.updated_at].toSorted(
    (a, b) => +a - +b,
  )[1] as Date;
  return {
    schemas: [userSchema],
    id: user.id,
    ...(row?.external_id ? { externalId: row.external_id } : {}),
    userName: user.email,
    ...(row ? row.attributes : attributesOf(user)),
    active: member.status === 'Active',
    meta: {
      resourceType: 'User',
      created: member.created_at.toISOString(),
      lastModified: modified.toISOString(),
      location: `${address}/Users/${user.id}`,
    },
  };
}

/** Resources of members, without keys, in the order of the memberships. */
async function resourcesOf(
  { context: { db }, organizationId, address }: ScimRequest,
  members: readonly MembershipRow[],
): Promise<UserResource[]> {
  const ids = members.map((member) => member.user_id);
  const [users, rows] = await Promise.all([getUsers(db, ids), scimUsersOf(db, organizationId, ids)]);
  return members.flatMap((member) => {
    const user = users.get(member.user_id);
    return isPerson(user) ? [resourceOf(address, member, user, rows.get(user.id))] : [];
  });
}

/** The person, if a member. */
export async function findUser(request: ScimRequest, id: string): Promise<UserResource | undefined> {
  const member = await getMembership(request.context.db, request.organizationId, id);
  const [resource] = member ? await resourcesOf(request, [member]) : [];
  return resource;
}

/** The ids that a filter leaves, where it requires a value that has few; null: all may match. */
async function candidates(
  db: ActorContext['db'],
  organizationId: string,
  filter: Filter,
): Promise<string[] | null> {
  const id = requiredValue(filter, 'id');
  if (id !== undefined) return [id];
  const userName = requiredValue(filter, 'userName');
  if (userName !== undefined) {
    const person = await findPersonByEmail(db, userName);
    return person ? [person.id] : [];
  }
  const externalId = requiredValue(filter, 'externalId');
  return externalId === undefined ? null : usersWithExternalId(db, organizationId, externalId);
}

async function membersFor(request: ScimRequest, filter: Filter | null): Promise<MembershipRow[]> {
  const { context, organizationId } = request;
  const ids = filter && (await candidates(context.db, organizationId, filter));
  if (ids) {
    const rows = await Promise.all(ids.map((id) => getMembership(context.db, organizationId, id)));
    return rows.filter((row) => row !== undefined);
  }
  const members = await listMemberRows(context.db, organizationId);
  if (filter && members.length > mostFiltered)
    throw new ScimRefusal(
      'tooMany',
      `With more than ${mostFiltered} members, the filter must have userName, externalId or id with eq`,
    );
  // Oldest first: new users do not move the others to another page.
  return members.toReversed();
}

/** All people that a filter matches. @throws ScimRefusal 400 where there are too many to look at */
export async function matchingUsers(request: ScimRequest, filter: Filter | null): Promise<UserResource[]> {
  const all = await resourcesOf(request, await membersFor(request, filter));
  const budget = new RequestBudget();
  return filter ? all.filter((each) => matches(filter, each, budget)) : all;
}

/** A page of them. @throws ScimRefusal 400 for what the query has wrong */
export async function listUsers(request: ScimRequest): Promise<object> {
  const text = textOf(request.query, 'filter');
  const found = await matchingUsers(request, text === undefined ? null : parseFilter(text, userPaths));
  const { start, items } = pageOf(found, request.query);
  return listResponse(found.length, start, items.map(selection(request.query)));
}
