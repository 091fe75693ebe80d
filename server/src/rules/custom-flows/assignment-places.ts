/** Organizations, projects and templates as places that custom flows and approval policies are assigned to. */

import type { SetAssignmentScope } from '#contract/configuration-sets/shapes.ts';
import { type FlowScope, flowScopes } from '#contract/custom-flows/shapes.ts';
import { isCreatable } from '../../code/templates/template-kinds.ts';
import { viewRightAt } from '../../framework/access/access.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { notFound, unknownEntity } from '../../ground/errors.ts';
import { findAssignmentPlace, homeOfAssignment } from '../../inputs/configuration-sets/assignment-places.ts';
import type { ScopePlace } from '../../rows/custom-flows/assignment-store.ts';
import type { FindHome } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import { getTemplateRow, holdTemplateRow } from '../../rows/templates/template-store.ts';

/** A place that there is. */
export interface FlowPlace extends ScopePlace {
  /** Home for checks of rights. */
  readonly home: Place;
}

/** As configuration sets call these places. */
const setScopes = {
  ORGANIZATION: 'organization',
  PROJECT: 'project',
  BLUEPRINT: 'template',
} as const satisfies Record<FlowScope, SetAssignmentScope>;

/** @returns undefined where nothing of that kind has the id */
export async function findPlace(
  db: Connection,
  { scope, scopeId }: ScopePlace,
): Promise<FlowPlace | undefined> {
  const home = await homeOfAssignment(db, { scope: setScopes[scope], scopeId });
  if (!home) return undefined;
  const template = scope === 'BLUEPRINT' ? await getTemplateRow(db, scopeId) : null;
  const isPlace = template === null || (template !== undefined && isCreatable(template.type));
  return isPlace ? { scope, scopeId: scopeId.toLowerCase(), home } : undefined;
}

/**
 * A place that the body of a request names.
 * @param field of its id, as `body.scopeId`
 * @throws Refusal 400 that names the field
 */
export async function requirePlace(
  { db, actor }: ActorContext,
  named: ScopePlace,
  field: string,
): Promise<FlowPlace> {
  const place = await findPlace(db, named);
  if (!place || !actor.access.isMember(place.home.organizationId))
    throw unknownEntity(field, setScopes[named.scope]);
  return place;
}

/** Whether the caller may see what is assigned there. */
export function mayView({ actor }: ActorContext, { home }: FlowPlace): boolean {
  return actor.access.has(viewRightAt(home), home);
}

/** A template of one environment is not deleted until the transaction ends. @returns whether it is still there */
export async function holdPlace(tx: Connection, { scope, scopeId }: ScopePlace): Promise<boolean> {
  return scope !== 'BLUEPRINT' || (await holdTemplateRow(tx, scopeId)) !== undefined;
}

/** @throws Refusal 403 */
export function requireView({ actor }: ActorContext, { scope, home }: FlowPlace): void {
  requireRight(actor, home, viewRightAt(home), `Scope ${scope}`);
}

/** @throws Refusal 403, 404 where the place has just been deleted */
export async function requireEdit({ db, actor }: ActorContext, place: FlowPlace): Promise<void> {
  const { scope, scopeId, home } = place;
  const found = await findAssignmentPlace(db, { scope: setScopes[scope], scopeId });
  if (!found?.rightToChange) throw notFound(setScopes[scope], scopeId);
  requireRight(actor, home, found.rightToChange, `Scope ${scope}`);
}

/** The parts of `<scope>#<scopeId>#<blueprintId>`; empty where there are fewer. */
export function partsOf(id: string): { scope: string; scopeId: string; blueprintId: string } {
  const [scope = '', scopeId = '', blueprintId = '', ...more] = id.split('#');
  return more.length > 0 ? { scope: '', scopeId: '', blueprintId: '' } : { scope, scopeId, blueprintId };
}

/** Home of an assignment that is identified by its parts: that of its place. */
export const policyAssignmentHome: FindHome = async (db, id) => {
  const { scope, scopeId } = partsOf(id);
  const known = flowScopes.find((each) => each === scope);
  return known && homeOfAssignment(db, { scope: setScopes[known], scopeId });
};
