/** A page of the teams of an organization. */
import { type ListTeamsQuery, usualTeams } from '#contract/teams/operations.ts';
import type { Team } from '#contract/teams/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { excludeFields } from '../../framework/http/replies/pick-fields.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import { type FindHome, isUuid } from '../../rows/entity-home.ts';
import { environmentHome } from '../../rows/environments/environment-store.ts';
import type { Place } from '../../rows/places.ts';
import { getProjectRow, projectHome } from '../../rows/projects/project-store.ts';
import { type AssignedTo, countTeams, listTeamRows } from '../../rows/teams/team-store.ts';
import { teamViews } from './team-view.ts';

/**
 * The place that a filter names.
 * @throws Refusal 400 for one outside of the organization, 403 for one that the caller may not see
 */
async function placeOf(
  { db, actor }: ActorContext,
  organizationId: string,
  { field, id, find }: { readonly field: string; readonly id: string; readonly find: FindHome },
): Promise<Place> {
  const place = await find(db, id);
  const isEnvironment = field === 'assignedToEnvironmentId';
  if (place?.organizationId !== organizationId)
    throw unknownEntity(`query.${field}`, isEnvironment ? 'environment' : 'project');
  requireRight(actor, place, isEnvironment ? 'VIEW_ENVIRONMENT' : 'VIEW_PROJECT', `/query/${field}`);
  return place;
}

async function assignedTo(context: ActorContext, { projectId, environmentId }: Place): Promise<AssignedTo> {
  const project = projectId === null ? undefined : await getProjectRow(context.db, projectId);
  return { projectIds: project?.hierarchy.split('|') ?? [], environmentId };
}

async function assignments(
  context: ActorContext,
  organizationId: string,
  query: ListTeamsQuery,
): Promise<AssignedTo[]> {
  const found: AssignedTo[] = [];
  if (query.assignedToOrganizationId !== undefined) {
    if (query.assignedToOrganizationId !== organizationId)
      throw unknownEntity('query.assignedToOrganizationId', 'organization');
    found.push({ projectIds: [], environmentId: null });
  }
  const filters = [
    { field: 'assignedToProjectId', id: query.assignedToProjectId, find: projectHome },
    { field: 'assignedToEnvironmentId', id: query.assignedToEnvironmentId, find: environmentHome },
  ];
  for (const { field, id, find } of filters) {
    if (id === undefined) continue;
    found.push(await assignedTo(context, await placeOf(context, organizationId, { field, id, find })));
  }
  return found;
}

/** @returns the page, how many teams there are on all pages, and the key of the next page if there is one */
export async function listTeams(
  context: ActorContext,
  organizationId: string,
  query: ListTeamsQuery,
): Promise<{ teams: Team[]; total: number; nextPageKey: string | undefined }> {
  const { limit = usualTeams, offset: after = null, name, excludeFields: excluded = '' } = query;
  if (after !== null && !isUuid(after))
    throw badField('query.offset', 'must be the nextPageKey of the previous page');
  const filter = {
    organizationId,
    assignedTo: await assignments(context, organizationId, query),
    ...(name === undefined ? {} : { name }),
  };
  const [rows, total] = await Promise.all([
    // One more than requested shows whether there is another page.
    listTeamRows(context.db, filter, { limit: limit + 1, after }),
    countTeams(context.db, filter),
  ]);
  const page = rows.slice(0, limit);
  const hasMembers = !excluded.split(',').some((path) => path.trim() === 'users');
  const views = await teamViews(context.db, page, hasMembers);
  const teams = views.map((view) => excludeFields(view, excluded));
  return { teams, total, nextPageKey: rows.length > limit ? page.at(-1)?.id : undefined };
}
