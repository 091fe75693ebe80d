/** Rights of a user in a place, and the roles that give each of them there. */
import { operations } from '#contract/operations.ts';
import type { EffectivePermissions, HeldRole as HeldRoleView } from '#contract/roles/shapes.ts';
import { type Right, rights } from '#contract/schema/enumerations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { type RoleInPlace, rolesHeldBy } from '../../framework/access/held-roles.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { type FindHome, isUuid } from '../../rows/entity-home.ts';
import { environmentHome, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getOrganizationRow, organizationHome } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import { projectHome, projectPath } from '../../rows/projects/project-store.ts';
import { getRoleRows } from '../../rows/roles/role-store.ts';
import { getTeamRows } from '../../rows/teams/team-store.ts';
import { requireHolder } from './assign-role.ts';
import { onlyPlace, type PlaceFields, placeFields } from './only-place.ts';

const homes: Readonly<Record<(typeof placeFields)[number], { entity: string; find: FindHome }>> = {
  environmentId: { entity: 'environment', find: environmentHome },
  projectId: { entity: 'project', find: projectHome },
  organizationId: { entity: 'organization', find: organizationHome },
};

/** @throws Refusal 400 for a place that does not exist, or is in an organization that the caller is not in */
async function placeNamed({ db, actor }: ActorContext, query: PlaceFields): Promise<Place> {
  const field = placeFields.find((each) => query[each] !== undefined);
  if (field === undefined) return onlyPlace(null, 'query', query);
  const { entity, find } = homes[field];
  const place = await find(db, query[field] ?? '');
  if (!place || !actor.access.isMember(place.organizationId)) throw unknownEntity(`query.${field}`, entity);
  return onlyPlace(place, 'query', query);
}

function rightToAskAt({ projectId, environmentId }: Place): Right {
  if (environmentId !== null) return 'ASSIGN_ROLE_ON_ENVIRONMENT';
  return projectId === null ? 'EDIT_ORGANIZATION_SETTINGS' : 'EDIT_PROJECT_SETTINGS';
}

/** The names of the places whose roles reach a place, from the top down, by id. */
async function namesAbove(db: Connection, place: Place): Promise<ReadonlyMap<string, string>> {
  const { organizationId, projectId, environmentId } = place;
  const [organization, projects, environment] = await Promise.all([
    getOrganizationRow(db, organizationId),
    projectId === null ? [] : projectPath(db, projectId),
    environmentId === null ? undefined : getEnvironmentRow(db, environmentId),
  ]);
  const all = [organization, ...projects, environment].filter((row) => row !== undefined);
  return new Map(all.map(({ id, name }) => [id, name]));
}

/** @param names of the places whose roles count, by id */
async function roleViews(
  db: Connection,
  organizationId: string,
  roles: readonly RoleInPlace[],
  names: ReadonlyMap<string, string>,
): Promise<HeldRoleView[]> {
  const ids = roles.map(({ role }) => role).filter((role) => isUuid(role));
  const [custom, teams] = await Promise.all([
    getRoleRows(db, ids),
    getTeamRows(
      db,
      roles.map(({ teamId }) => teamId).filter((id) => id !== null),
    ),
  ]);
  const own = [...custom, ...teams].filter((row) => row.organization_id === organizationId);
  const nameOf = new Map(own.map(({ id, name }) => [id, name]));
  return roles.map(({ role, scope, scopeId, teamId }) => ({
    role,
    roleName: nameOf.get(role) ?? role,
    scope,
    scopeId,
    scopeName: names.get(scopeId) ?? '',
    ...(teamId === null ? {} : { teamId, teamName: nameOf.get(teamId) ?? '' }),
  }));
}

async function explain(db: Connection, userId: string, place: Place): Promise<EffectivePermissions> {
  const { organizationId, projectId, environmentId } = place;
  const [names, held] = await Promise.all([namesAbove(db, place), rolesHeldBy(db, userId)]);
  const above = [...names.keys()];
  const reaching = held.roles
    .filter((role) => role.organizationId === organizationId && names.has(role.scopeId))
    .toSorted((a, b) => above.indexOf(a.scopeId) - above.indexOf(b.scopeId));
  const roles = await roleViews(db, organizationId, reaching, names);
  const giving = (right: Right) => roles.filter((_, index) => reaching[index]?.rights.has(right));
  return {
    userId,
    organizationId,
    ...(projectId === null ? {} : { projectId }),
    ...(environmentId === null ? {} : { environmentId }),
    roles,
    rights: rights.map((right) => ({ right, from: giving(right) })).filter(({ from }) => from.length > 0),
  };
}

export const explainRoutes: Route[] = [
  route(operations.explainPermissions, async (context, { query }) => {
    const { db, actor } = context;
    const place = await placeNamed(context, query);
    const { userId = actor.userId } = query;
    if (userId !== actor.userId) {
      requireRight(actor, place, rightToAskAt(place), '/query/userId');
      await requireHolder(context, place.organizationId, { userId }, 'query.userId');
    }
    return explain(db, userId, place);
  }),
];
