/**
 * Places in which configuration sets are created and assigned: entities of several kinds that requests specify
 * by scope and id.
 */
import { type SetAssignmentScope, setAssignmentScopes } from '#contract/configuration-sets/shapes.ts';
import type { Right, VariableScope } from '#contract/schema/enumerations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, orNotFound } from '../../ground/errors.ts';
import {
  type AssignmentScope,
  assignmentScopesOf,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import { deploymentHome } from '../../rows/deployments/deployment-store.ts';
import { type FindHome, homeById } from '../../rows/entity-home.ts';
import { environmentHome } from '../../rows/environments/environment-store.ts';
import { organizationHome } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import { projectHome } from '../../rows/projects/project-store.ts';
import { getModule } from '../../rows/registry/module-store.ts';
import { templateHome } from '../../rows/templates/template-store.ts';
import { findHome } from '../variables/find-home.ts';
import { levelsOf } from '../variables/levels.ts';

export interface AssignmentPlace extends AssignmentScope {
  /** Home for checks of rights. */
  readonly home: Place;
}

/** A place that there is, and who may do what with its sets. */
export interface PermittedPlace extends AssignmentPlace {
  /** The right to see which sets are assigned. */
  readonly rightToView: Right;
  /** The one for changing the variables of the place; null where the sets never change. */
  readonly rightToChange: Right | null;
  /** The places whose sets hold there, itself included, from the organization inwards. */
  readonly around: readonly AssignmentScope[];
}

/** Finders of the entities of a scope. */
const homes: Readonly<Record<SetAssignmentScope, FindHome>> = {
  environment: environmentHome,
  project: projectHome,
  organization: organizationHome,
  template: templateHome,
  module: homeById(async (db, id) => {
    const row = await getModule(db, id);
    return row?.is_deleted === true ? undefined : row;
  }),
  deployment: deploymentHome,
};

function firstHome(finders: readonly FindHome[]): FindHome {
  return async (db, id) => {
    const found = await Promise.all(finders.map((find) => find(db, id)));
    return found.find((home) => home !== undefined);
  };
}

/** Home of an entity that sets can be assigned to, whatever it is: ids are unique across kinds. */
export const assignmentScopeHome = firstHome(Object.values(homes));

/** Home of an organization or a project. */
export const creationScopeHome = firstHome([projectHome, organizationHome]);

/** Home of an entity of one kind that sets can be assigned to. */
export async function homeOfAssignment(
  db: Connection,
  { scope, scopeId }: AssignmentScope,
): Promise<Place | undefined> {
  return homes[scope](db, scopeId);
}

/** Places that have variables of their own. */
const variableScopes: Readonly<Partial<Record<SetAssignmentScope, VariableScope>>> = {
  organization: 'GLOBAL',
  project: 'PROJECT',
  template: 'BLUEPRINT',
  environment: 'ENVIRONMENT',
};

/** @returns undefined where nothing of that kind has the id */
export async function findAssignmentPlace(
  db: Connection,
  own: AssignmentScope,
): Promise<PermittedPlace | undefined> {
  const variableScope = variableScopes[own.scope];
  if (variableScope !== undefined) {
    const found = await findHome(db, { scope: variableScope, scopeId: own.scopeId });
    if (!found) return undefined;
    const { place: home, rightToView, rightToChange } = found;
    return { ...own, home, rightToView, rightToChange, around: assignmentScopesOf(levelsOf(found.home)) };
  }
  const home = await homeOfAssignment(db, own);
  if (!home) return undefined;
  if (own.scope === 'deployment')
    return { ...own, home, rightToView: 'VIEW_ENVIRONMENT', rightToChange: null, around: [own] };
  const around: AssignmentScope[] = [{ scope: 'organization', scopeId: home.organizationId }, own];
  return { ...own, home, rightToView: 'VIEW_MODULES', rightToChange: 'CREATE_AND_EDIT_MODULES', around };
}

/** @throws Refusal 400 for a scope that does not exist, 404 for an id of something else */
export async function requireAssignmentPlace(
  { db }: ActorContext,
  { scope: requestedScope, scopeId }: { readonly scope: string; readonly scopeId: string },
): Promise<PermittedPlace> {
  const scope = setAssignmentScopes.find((each) => each === requestedScope);
  if (!scope) throw badField('params.scope', `must be one of ${setAssignmentScopes.join(', ')}`);
  return orNotFound(await findAssignmentPlace(db, { scope, scopeId }), scope, scopeId);
}

/** @throws Refusal 403 */
export function requireViewRight({ actor }: ActorContext, place: PermittedPlace): void {
  requireRight(actor, place.home, place.rightToView, `/params/scope ${place.scope}`);
}

/** @throws Refusal 400 for a deployment, whose sets never change, 403 */
export function requireEditRight(
  { actor }: ActorContext,
  { scope, home, rightToChange }: PermittedPlace,
): void {
  if (rightToChange === null)
    throw badField('params.scope', `${scope} cannot be changed: assign the sets to its environment`);
  requireRight(actor, home, rightToChange, `/params/scope ${scope}`);
}
