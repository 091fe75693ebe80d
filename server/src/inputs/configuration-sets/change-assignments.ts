/** Assigns configuration sets, and takes them away again. */
import { viewRightAt } from '../../framework/access/access.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, pointerTo, unknownEntity } from '../../ground/errors.ts';
import {
  type AssignmentScope,
  assignedThere,
  assignersThere,
  deleteAssignments,
  holdSetRows,
  insertAssignments,
  type SetRow,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { inOrganization, inProject, type Place } from '../../rows/places.ts';
import { projectPath } from '../../rows/projects/project-store.ts';
import { listVariablesOf, openValue, type VariableRow } from '../../rows/variables/variable-store.ts';
import { liftersIn, requireLift } from '../../tenancy/project-policies/lift-approval.ts';
import { approvalVariableName } from '../variables/approval-variable.ts';
import type { AssignmentPlace } from './assignment-places.ts';

/** Home of a set. */
export function placeOfSet({
  organization_id,
  project_id,
}: Pick<SetRow, 'organization_id' | 'project_id'>): Place {
  return project_id === null
    ? inOrganization(organization_id)
    : inProject({ organization_id, id: project_id });
}

/** The right to see a set. */
export function viewRightOfSet({ project_id }: Pick<SetRow, 'project_id'>) {
  return viewRightAt({ projectId: project_id });
}

async function projectIdsAbove(db: Connection, { projectId }: Place): Promise<string[]> {
  return projectId === null ? [] : (await projectPath(db, projectId)).map(({ id }) => id);
}

/**
 * The sets of a request, for use at a place; they are locked until the transaction ends.
 * @param field location of the ids, as `query.setIds`
 * @param isProposed a user who could see them proposed them, and the caller approves it
 * @returns them in the order of `ids`, each once
 * @throws Refusal 400 that names the first id of a set that does not exist, or that was created in a project which is
 * not above the place, 403 for a set that the caller may not see
 */
export async function requireSets(
  { db, actor }: ActorContext,
  home: Place,
  ids: readonly string[],
  field: string,
  isProposed = false,
): Promise<SetRow[]> {
  if (ids.length === 0) return [];
  const rows = await holdSetRows(db, ids.filter(isUuid));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const above = await projectIdsAbove(db, home);
  const found = ids.map((id, index) => {
    const row = byId.get(id.toLowerCase());
    const at = `${field}.${index}`;
    if (row?.organization_id !== home.organizationId) throw unknownEntity(at, 'configuration set');
    if (!isProposed) requireRight(actor, placeOfSet(row), viewRightOfSet(row), pointerTo(at));
    if (row.project_id !== null && !above.includes(row.project_id))
      throw badField(
        at,
        `is the configuration set "${row.name}" of a project, which can be assigned in that project and below it only`,
      );
    return row;
  });
  return [...new Set(found)];
}

async function auditAssignment(
  context: ActorContext,
  place: AssignmentPlace,
  action: 'assigned' | 'unassigned',
  sets: readonly SetRow[],
  proposed: ProposedBy,
): Promise<void> {
  const { scope, scopeId, home } = place;
  for (const { id, name } of sets)
    await recordAudit(context, {
      organizationId: home.organizationId,
      projectId: home.projectId,
      action: `configurationSet.${action}`,
      entityId: id,
      details: { name, scope, scopeId, ...proposed },
    });
}

/** The variable ENVARIUM_REQUIRES_APPROVAL of each set that has it. */
async function approvalVariablesOf(db: Connection, sets: readonly SetRow[]): Promise<VariableRow[]> {
  const scopes = sets.map(({ id }) => ({ scope: 'SET', scopeId: id }) as const);
  const variables = await listVariablesOf(db, scopes);
  return variables.filter(({ name, type }) => name === approvalVariableName && type === 0);
}

/**
 * A set with ENVARIUM_REQUIRES_APPROVAL changes whether plans of an environment wait, as the variable itself does.
 * @throws MissingRight 403 for a caller without the right to apply
 */
async function guardApprovalSets(
  { db, actor }: ActorContext,
  { scope, home }: AssignmentPlace,
  sets: readonly SetRow[],
): Promise<void> {
  if (scope !== 'environment' || actor.access.has('RUN_APPLY', home)) return;
  const [found] = await approvalVariablesOf(db, sets);
  const set = found && sets.find(({ id }) => id === found.scope_id);
  if (set) requireRight(actor, home, 'RUN_APPLY', `The set "${set.name}" with ${approvalVariableName}`);
}

/**
 * A set that demands approvals is not taken away without the right to lift the demand, but by the user who assigned it.
 * @throws MissingRight 403
 */
async function keepDemandingSets(
  context: ActorContext,
  place: AssignmentScope,
  sets: readonly SetRow[],
  { proposedBy = null }: { readonly proposedBy?: string | null },
): Promise<void> {
  if (place.scope === 'module') return;
  const variables = await approvalVariablesOf(context.db, sets);
  const demanding = variables.filter((row) => openValue(context, row) === 'true').map((row) => row.scope_id);
  if (demanding.length === 0) return;
  const assigners = await assignersThere(context.db, place, demanding);
  const people = [context.actor.userId, proposedBy];
  const remainingAfter = liftersIn(context);
  for (const set of sets) {
    if (!demanding.includes(set.id) || people.includes(assigners.get(set.id) ?? '')) continue;
    const left = await remainingAfter(proposedBy, [placeOfSet(set)]);
    requireLift(context.actor, left, `Taking away the set "${set.name}", which demands approvals,`);
  }
}

/** Assigns sets that `requireSets` returned. Sets that are already there remain at their place in the order. */
export async function assignSets(
  context: ActorContext,
  place: AssignmentPlace,
  sets: readonly SetRow[],
  proposed: ProposedBy = {},
): Promise<void> {
  const by = { userId: proposed.proposedBy ?? context.actor.userId, at: context.now() };
  const ids = sets.map(({ id }) => id);
  await guardApprovalSets(context, place, sets);
  const added = await insertAssignments(context.db, place, ids, by);
  await auditAssignment(
    context,
    place,
    'assigned',
    sets.filter(({ id }) => added.has(id)),
    proposed,
  );
}

/** The sets of a request that are assigned at a place itself, in its order; undefined for any other id. */
export async function findAssigned(
  db: Connection,
  place: Pick<AssignmentPlace, 'scope' | 'scopeId'>,
  ids: readonly string[],
): Promise<(SetRow | undefined)[]> {
  const rows = await assignedThere(db, place, ids.filter(isUuid));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id.toLowerCase()));
}

/** Takes away sets that are assigned there. */
export async function unassignSets(
  context: ActorContext,
  place: AssignmentPlace,
  sets: readonly SetRow[],
  proposed: ProposedBy = {},
): Promise<void> {
  const once = [...new Map(sets.map((set) => [set.id, set])).values()];
  await guardApprovalSets(context, place, once);
  await keepDemandingSets(context, place, once, proposed);
  await deleteAssignments(
    context.db,
    place,
    once.map(({ id }) => id),
  );
  await auditAssignment(context, place, 'unassigned', once, proposed);
}

/** Author of changes to assignments, if the caller approves another user's proposal. */
export interface ProposedBy {
  readonly proposedBy?: string;
}

/** `configurationSetChanges` of a request, as far as they were checked. */
export interface SetChanges {
  readonly assign: readonly SetRow[];
  readonly unassign: readonly SetRow[];
}

/**
 * Checks `configurationSetChanges`.
 * @param field location of the changes, as `body.configurationSetChanges`
 * @throws Refusal 400 that names the first id that cannot be assigned, or is not assigned; 403 for a set that demands
 * approvals and that the caller may not take away
 */
export async function checkSetChanges(
  context: ActorContext,
  { home, environmentId }: { readonly home: Place; readonly environmentId: string },
  { assign, unassign }: { readonly assign: readonly string[]; readonly unassign: readonly string[] },
  field: string,
): Promise<SetChanges> {
  const both = unassign.findIndex((id) => assign.includes(id));
  if (both >= 0) throw badField(`${field}.unassign.${both}`, 'is also in assign: leave out one of them');
  const place = { scope: 'environment', scopeId: environmentId } as const;
  const assigned = await findAssigned(context.db, place, unassign);
  const missing = assigned.indexOf(undefined);
  if (missing >= 0)
    throw badField(
      `${field}.unassign.${missing}`,
      'does not match a configuration set that is assigned to this environment itself',
    );
  const found = assigned.filter((row) => row !== undefined);
  const added = await requireSets(context, home, assign, `${field}.assign`);
  await keepDemandingSets(context, place, found, {});
  return { assign: added, unassign: found };
}

/**
 * Checks changes again that `checkSetChanges` returned when they were proposed. What is no longer assigned need not be
 * taken away.
 * @throws Refusal 400 for a set that was deleted since, or that cannot be assigned any more
 */
export async function checkProposedSets(
  context: ActorContext,
  { home, environmentId }: { readonly home: Place; readonly environmentId: string },
  { assign, unassign }: { readonly assign: readonly string[]; readonly unassign: readonly string[] },
): Promise<SetChanges> {
  const place = { scope: 'environment', scopeId: environmentId } as const;
  const assigned = await findAssigned(context.db, place, unassign);
  return {
    assign: await requireSets(context, home, assign, 'body.configurationSetChanges.assign', true),
    unassign: assigned.filter((row) => row !== undefined),
  };
}

/** Carries out changes that `checkSetChanges` returned. */
export async function applySetChanges(
  context: ActorContext,
  environment: { readonly id: string; readonly organization_id: string; readonly project_id: string },
  { assign, unassign }: SetChanges,
  proposed: ProposedBy = {},
): Promise<void> {
  const { id, organization_id, project_id } = environment;
  const home = { organizationId: organization_id, projectId: project_id, environmentId: id };
  const place = { scope: 'environment', scopeId: id, home } as const;
  if (unassign.length > 0) await unassignSets(context, place, unassign, proposed);
  if (assign.length > 0) await assignSets(context, place, assign, proposed);
}
