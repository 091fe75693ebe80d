/**
 * Users who may lift an approval that a project, an organization or an approval policy demands: those who may
 * edit the settings of the place that demands it.
 */
import type { Access } from '../../framework/access/access.ts';
import type { Actor } from '../../framework/access/actor.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { loadAccess } from '../../framework/access/load-access.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { inOrganization, type Place } from '../../rows/places.ts';

/** A project, or an organization as a whole, by whose settings a plan has to be approved. */
export interface DemandPlace extends Pick<Place, 'organizationId' | 'projectId'> {
  /** Id of the template by which it demands that, if it is one. */
  readonly templateId?: string | null;
}

function rightAt({ projectId }: DemandPlace) {
  return projectId === null ? 'EDIT_ORGANIZATION_SETTINGS' : 'EDIT_PROJECT_SETTINGS';
}

function placeOf({ organizationId, projectId }: DemandPlace): Place {
  return { ...inOrganization(organizationId), projectId };
}

/** The demands that a user may not lift, by the rights that it has now. @param userId null: it was not recorded */
export type RemainingDemands = (
  userId: string | null,
  demands: readonly DemandPlace[],
) => Promise<readonly DemandPlace[]>;

/** Reads what users may do, each of them once. @param actor the caller, whose rights are known */
export function liftersIn({
  db,
  actor,
}: {
  readonly db: Connection;
  readonly actor?: Actor;
}): RemainingDemands {
  const loaded = new Map<string, Promise<Access>>();
  const accessOf = (userId: string): Access | Promise<Access> => {
    if (userId === actor?.userId) return actor.access;
    const found = loaded.get(userId) ?? loadAccess(db, userId);
    loaded.set(userId, found);
    return found;
  };
  return async (userId, demands) => {
    if (userId === null || demands.length === 0) return demands;
    const access = await accessOf(userId);
    return demands.filter((place) => !access.has(rightAt(place), placeOf(place)));
  };
}

/** Something that demands an approval, or lifts what is demanded above it. */
export interface Statement {
  readonly place: DemandPlace;
  readonly isDemand: boolean;
  /** Null: not recorded, or chosen by others. */
  readonly setBy: string | null;
}

/**
 * The places whose demand holds: each lower one that says otherwise lifts those that its author may lift now.
 * @param statements from the top down
 */
export async function standingDemands(
  statements: readonly Statement[],
  remainingAfter: RemainingDemands,
): Promise<readonly DemandPlace[]> {
  let standing: readonly DemandPlace[] = [];
  for (const { place, isDemand, setBy } of statements)
    standing = isDemand ? [...standing, place] : await remainingAfter(setBy, standing);
  return standing;
}

/**
 * @param why the part of the request that takes an approval away
 * @throws MissingRight 403 for a caller who may not lift what one of the places demands
 */
export function requireLift(actor: Actor, places: readonly DemandPlace[], why: string): void {
  for (const place of places) requireRight(actor, placeOf(place), rightAt(place), why);
}

/**
 * User who switched the approvals of an environment off, after a request about waiting plans. A request that
 * repeats what is stored changes nothing of it.
 * @param before undefined: a new environment
 * @param wanted undefined: the request does not say
 * @param demands what the project demands
 * @param field location in the request
 * @throws MissingRight 403 for a caller who may not switch them off
 */
export function lifterColumns(
  { actor }: Pick<ActorContext, 'actor'>,
  before: { readonly requires_approval: boolean } | undefined,
  wanted: boolean | undefined,
  demands: readonly DemandPlace[],
  field: string,
): { approval_lifted_by?: string | null } {
  if (wanted === undefined || wanted === before?.requires_approval) return {};
  if (wanted) return { approval_lifted_by: null };
  requireLift(actor, demands, `${field} false`);
  return { approval_lifted_by: actor.userId };
}
