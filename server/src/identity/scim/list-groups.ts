/** Teams of an organization as groups of SCIM. */
import type { ActorContext } from '../../framework/context.ts';
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { externalIdsOfTeams } from '../../rows/scim/scim-store.ts';
import { getTeamRow, membersOfTeams, type TeamRow, teamsByAge } from '../../rows/teams/team-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { type Filter, matches, namesPath, parseFilter, pathsOf } from './filter.ts';
import { isPerson } from './list-users.ts';
import { isRequested, listResponse, pageOf, selection, textOf } from './page.ts';
import { RequestBudget } from './request-budget.ts';
import { type GroupMember, type GroupResource, groupSchema } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';

const mostGroups = 10_000;

/** Filters of groups. */
export const groupPaths = pathsOf([
  'id',
  'displayName',
  'externalId',
  'members',
  'members.value',
  'meta.created',
  'meta.lastModified',
]);

type Members = ReadonlyMap<string, readonly GroupMember[]>;

/** The people of teams; keys are members, too, but are left out. */
async function peopleOf(
  { context: { db }, address }: Pick<ScimRequest, 'context' | 'address'>,
  teamIds: readonly string[],
): Promise<Members> {
  const ids = await membersOfTeams(db, teamIds);
  const users = await getUsers(db, [...ids.values()].flat());
  const member = (id: string) => {
    const user = users.get(id);
    if (!isPerson(user)) return [];
    return [{ value: id, type: 'User', $ref: `${address}/Users/${id}` }];
  };
  return new Map([...ids].map(([teamId, each]) => [teamId, each.flatMap(member)]));
}

async function resourcesOf(
  request: ScimRequest,
  teams: readonly TeamRow[],
  hasMembers: boolean,
): Promise<GroupResource[]> {
  const ids = teams.map(({ id }) => id);
  const [externalIds, members] = await Promise.all([
    externalIdsOfTeams(request.context.db, ids),
    hasMembers ? peopleOf(request, ids) : (new Map() as Members),
  ]);
  return teams.map((team) => {
    const externalId = externalIds.get(team.id);
    return {
      schemas: [groupSchema],
      id: team.id,
      ...(externalId === undefined ? {} : { externalId }),
      displayName: team.name,
      members: members.get(team.id) ?? [],
      meta: {
        resourceType: 'Group',
        created: team.created_at.toISOString(),
        lastModified: team.updated_at.toISOString(),
        location: `${request.address}/Groups/${team.id}`,
      },
    };
  });
}

/** The group, if the organization has it. */
export async function findGroup(
  request: ScimRequest,
  id: string,
  db: ActorContext['db'] = request.context.db,
): Promise<GroupResource | undefined> {
  const team = await getTeamRow(db, id);
  if (team?.organization_id !== request.organizationId) return undefined;
  const [resource] = await resourcesOf({ ...request, context: { ...request.context, db } }, [team], true);
  return resource;
}

/** All groups that a filter matches, with members only if it asks for them. @throws ScimRefusal 400 for too many */
export async function matchingGroups(request: ScimRequest, filter: Filter | null): Promise<GroupResource[]> {
  const teams = await teamsByAge(request.context.db, request.organizationId, mostGroups + 1);
  if (teams.length > mostGroups)
    throw new ScimRefusal('tooMany', `The organization has more than ${mostGroups} teams`);
  const all = await resourcesOf(request, teams, filter !== null && namesPath(filter, 'members'));
  const budget = new RequestBudget();
  return filter ? all.filter((each) => matches(filter, each, budget)) : all;
}

/** The same groups with their members, if the answer has them. */
export async function withMembers(
  request: ScimRequest,
  groups: readonly GroupResource[],
): Promise<readonly GroupResource[]> {
  if (!isRequested(request.query, 'members')) return groups;
  const members = await peopleOf(
    request,
    groups.map(({ id }) => id),
  );
  return groups.map((each) => ({ ...each, members: members.get(each.id) ?? [] }));
}

/** A page of the groups that a filter matches. @throws ScimRefusal 400 for what the query has wrong */
export async function listGroups(request: ScimRequest): Promise<object> {
  const text = textOf(request.query, 'filter');
  const found = await matchingGroups(request, text === undefined ? null : parseFilter(text, groupPaths));
  const { start, items } = pageOf(found, request.query);
  const whole = await withMembers(request, items);
  return listResponse(found.length, start, whole.map(selection(request.query)));
}
