/**
 * Who may take away an approval that a project, an organization or an approval policy demands: whoever may edit the
 * settings of the place that demands it.
 */
import { type Access, inOrganization, type Place } from '../access/access.ts';
import type { Actor } from '../access/actor.ts';
import { requireRight } from '../access/check-right.ts';
import { loadAccess } from '../access/load-access.ts';
import type { ActorContext } from '../context.ts';

/** A project, or an organization as a whole, by whose settings a plan has to be approved. */
export type DemandPlace = Pick<Place, 'organizationId' | 'projectId'>;

function rightAt({ projectId }: DemandPlace) {
  return projectId === null ? 'EDIT_ORGANIZATION_SETTINGS' : 'EDIT_PROJECT_SETTINGS';
}

function placeOf({ organizationId, projectId }: DemandPlace): Place {
  return { ...inOrganization(organizationId), projectId };
}

function mayLift(access: Access, places: readonly DemandPlace[]): boolean {
  return places.every((place) => access.has(rightAt(place), placeOf(place)));
}

/** Whether the caller may lift what all of the places demand. */
export function callerMayLift({ actor }: ActorContext, places: readonly DemandPlace[]): boolean {
  return mayLift(actor.access, places);
}

/**
 * The same of a user, by the rights that it has now.
 * @param userId null: it was not recorded
 */
export async function userMayLift(
  { db, actor }: ActorContext,
  userId: string | null,
  places: readonly DemandPlace[],
): Promise<boolean> {
  if (places.length === 0) return true;
  if (userId === null) return false;
  return mayLift(userId === actor.userId ? actor.access : await loadAccess(db, userId), places);
}

/**
 * @param why the part of the request that takes an approval away
 * @throws MissingRight 403 for a caller who may not lift what one of the places demands
 */
export function requireLift(actor: Actor, places: readonly DemandPlace[], why: string): void {
  for (const place of places) requireRight(actor, placeOf(place), rightAt(place), why);
}

/** The demand of a policy that forbids people to approve their own plans. @param forbiddenIn id of its project */
export function demandOf(organizationId: string, forbiddenIn: string | null): DemandPlace[] {
  return forbiddenIn === null ? [] : [{ organizationId, projectId: forbiddenIn }];
}

/**
 * Who has switched the approvals of an environment off, after a request that says whether plans wait.
 * @param before the environment; undefined: a new one
 * @param wanted undefined: the request does not say
 * @param demands what the project demands
 * @param field location in the request
 * @throws MissingRight 403 for a caller who may not switch them off
 */
export function lifterColumns(
  context: ActorContext,
  before: { readonly requires_approval: boolean; readonly approval_lifted_by: string | null } | undefined,
  wanted: boolean | undefined,
  demands: readonly DemandPlace[],
  field: string,
): { approval_lifted_by?: string | null } {
  if (wanted === undefined) return {};
  if (wanted) return { approval_lifted_by: null };
  const isUnchanged = before?.requires_approval === false;
  if (!isUnchanged) requireLift(context.actor, demands, `${field} false`);
  // A request that repeats what is stored takes nothing over from whoever has switched them off.
  const isKept = isUnchanged && (demands.length === 0 || !callerMayLift(context, demands));
  return isKept ? {} : { approval_lifted_by: context.actor.userId };
}
