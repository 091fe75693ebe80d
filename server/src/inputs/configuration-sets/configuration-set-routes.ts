/** Operations on configuration sets. */

import type { ListSetsQuery } from '#contract/configuration-sets/operations.ts';
import type { ConfigurationSet, ConfigurationSetDetails } from '#contract/configuration-sets/shapes.ts';
import { operations } from '#contract/operations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, notFound, orNotFound, Refusal, unknownEntity } from '../../ground/errors.ts';
import {
  getSetRow,
  listAssignedSets,
  listSetRows,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import { requireAssignmentPlace, requireEditRight, requireViewRight } from './assignment-places.ts';
import {
  assignSets,
  findAssigned,
  placeOfSet,
  requireSets,
  unassignSets,
  viewRightOfSet,
} from './change-assignments.ts';
import { createSet, deleteSet, updateSet } from './change-set.ts';
import { setView, setViews } from './configuration-set-view.ts';
import { placesOfSet } from './set-places.ts';

/** @param home what the query names */
async function listSets(
  context: ActorContext,
  query: ListSetsQuery,
  home: Place,
): Promise<ConfigurationSet[]> {
  const { organizationId, projectId } = home;
  if (query.scope !== undefined && (query.scope === 'project') !== (projectId !== null))
    throw badField(
      'query.scope',
      `is not what the query names, which is ${projectId ? 'a project' : 'an organization'}`,
    );
  if (query.organizationId !== undefined && query.organizationId !== organizationId)
    throw unknownEntity('query.organizationId', 'organization');
  if (query.projectId !== undefined && query.projectId !== projectId)
    throw unknownEntity('query.projectId', 'project');
  if (projectId !== null)
    requireRight(context.actor, home, 'VIEW_PROJECT', 'A list of the sets of a project');
  const rows = await listSetRows(context.db, { organization_id: organizationId, project_id: projectId });
  return setViews(context.db, rows);
}

async function getSet(context: ActorContext, id: string): Promise<ConfigurationSetDetails> {
  const row = orNotFound(await getSetRow(context.db, id), 'configuration set', id);
  requireRight(context.actor, placeOfSet(row), viewRightOfSet(row), 'A configuration set of a project');
  return { ...(await setView(context.db, row)), assignedTo: await placesOfSet(context, row) };
}

/** @throws Refusal 400 where no id is named */
function idsOf(text: string): string[] {
  const ids = text.split(',').flatMap((id) => (id.trim() === '' ? [] : [id.trim()]));
  if (ids.length === 0) throw badField('query.setIds', 'must name at least one configuration set');
  return ids;
}

interface AssignmentRequest {
  readonly params: { readonly scope: string; readonly scopeId: string };
  readonly query: { readonly setIds: string };
}

async function assign(
  context: ActorContext,
  { params, query }: AssignmentRequest,
  field = 'query.setIds',
): Promise<null> {
  return inTransaction(context, async (context) => {
    const place = await requireAssignmentPlace(context, params);
    requireEditRight(context, place);
    await assignSets(context, place, await requireSets(context, place.home, idsOf(query.setIds), field));
    return null;
  });
}

/** The older form, with one set in the path. @throws Refusal 404 for an unknown set, 403 for one that is not visible */
async function assignOne(
  context: ActorContext,
  params: AssignmentRequest['params'] & { readonly id: string },
): Promise<null> {
  const row = isUuid(params.id) ? await getSetRow(context.db, params.id) : undefined;
  if (!row || !context.actor.access.isMember(row.organization_id))
    throw notFound('configuration set', params.id);
  return assign(context, { params, query: { setIds: params.id } }, 'params.id');
}

/** @throws Refusal 404 in the words that clients know, for the first set that is not assigned there */
async function unassign(context: ActorContext, { params, query }: AssignmentRequest): Promise<null> {
  return inTransaction(context, async (context) => {
    const place = await requireAssignmentPlace(context, params);
    requireEditRight(context, place);
    const ids = idsOf(query.setIds);
    const found = await findAssigned(context.db, place, ids);
    const missing = found.indexOf(undefined);
    if (missing >= 0) {
      const id = ids[missing] ?? '';
      const name = isUuid(id) ? await visibleName(context, id) : undefined;
      throw new Refusal('not_found', `Configuration Set "${name ?? id}" is not assigned to ${place.scope}.`);
    }
    await unassignSets(
      context,
      place,
      found.filter((row) => row !== undefined),
    );
    return null;
  });
}

async function visibleName({ db, actor }: ActorContext, id: string): Promise<string | undefined> {
  const row = await getSetRow(db, id);
  return row && actor.access.has(viewRightOfSet(row), placeOfSet(row)) ? row.name : undefined;
}

/** Operations whose subject is named always have a home. */
function homeOf(home: Place | null): Place {
  if (!home) throw new Error('The operation has no subject');
  return home;
}

export const configurationSetRoutes: Route[] = [
  route(operations.listConfigurationSets, (context, { query, home }) =>
    listSets(context, query, homeOf(home)),
  ),
  route(operations.createConfigurationSet, (context, { body, home }) =>
    createSet(context, body, homeOf(home)),
  ),
  route(operations.getConfigurationSet, (context, { params }) => getSet(context, params.id)),
  route(operations.updateConfigurationSet, (context, { params, body }) =>
    updateSet(context, params.id, body),
  ),
  route(operations.deleteConfigurationSet, (context, { params }) => deleteSet(context, params.id)),
  route(operations.listSetAssignments, async (context, { params }) => {
    const place = await requireAssignmentPlace(context, params);
    requireViewRight(context, place);
    return setViews(context.db, await listAssignedSets(context.db, place.around));
  }),
  route(operations.assignConfigurationSets, (context, request) => assign(context, request)),
  route(operations.assignConfigurationSet, (context, { params }) => assignOne(context, params)),
  route(operations.unassignConfigurationSets, unassign),
];
