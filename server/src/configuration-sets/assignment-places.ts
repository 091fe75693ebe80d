/** Where configuration sets are created and assigned: entities of four kinds that requests name by scope and id. */
import { type SetAssignmentScope, setAssignmentScopes } from '#contract/configuration-sets/shapes.ts';
import type { Right } from '#contract/schema/enumerations.ts';
import type { Place } from '../access/access.ts';
import { requireRight } from '../access/check-right.ts';
import type { FindHome } from '../access/entity-home.ts';
import type { ActorContext, Connection } from '../context.ts';
import { deploymentHome } from '../deployments/deployment-store.ts';
import { environmentHome, getEnvironmentRow } from '../environments/environment-store.ts';
import { badField, notFound } from '../http/errors.ts';
import { organizationHome } from '../organizations/organization-store.ts';
import { projectHome, projectPath } from '../projects/project-store.ts';
import { getTemplateRow, templateHome } from '../templates/template-store.ts';
import type { AssignmentScope } from './configuration-set-store.ts';

export interface AssignmentPlace extends AssignmentScope {
  /** Where rights about it are checked. */
  readonly home: Place;
}

/** How to find what a scope names; modules do not exist yet. */
export const scopeHomes: Readonly<Partial<Record<SetAssignmentScope, FindHome>>> = {
  environment: environmentHome,
  project: projectHome,
  organization: organizationHome,
  template: templateHome,
  deployment: deploymentHome,
};

function firstHome(finders: readonly FindHome[]): FindHome {
  return async (db, id) => {
    const found = await Promise.all(finders.map((find) => find(db, id)));
    return found.find((home) => home !== undefined);
  };
}

/** Where something lives that sets can be assigned to, whatever it is: no two entities have the same id. */
export const assignmentScopeHome = firstHome(Object.values(scopeHomes));

/** Where an organization or a project lives. */
export const creationScopeHome = firstHome([projectHome, organizationHome]);

/** @throws Refusal 400 for a scope that does not exist, 404 for an id of something else */
export async function requireAssignmentPlace(
  { db }: ActorContext,
  { scope: given, scopeId }: { readonly scope: string; readonly scopeId: string },
): Promise<AssignmentPlace> {
  const scope = setAssignmentScopes.find((each) => each === given);
  if (!scope) throw badField('params.scope', `must be one of ${setAssignmentScopes.join(', ')}`);
  const home = await scopeHomes[scope]?.(db, scopeId);
  if (!home) throw notFound(scope, scopeId);
  return { scope, scopeId, home };
}

/** The right to see which sets are assigned. A template of a project belongs to it. */
export function viewRightOf({ scope, home }: Pick<AssignmentPlace, 'scope' | 'home'>): Right {
  if (scope === 'environment' || scope === 'deployment') return 'VIEW_ENVIRONMENT';
  return home.projectId === null ? 'VIEW_ORGANIZATION' : 'VIEW_PROJECT';
}

/** Those for changing the variables of the place. */
export async function editRightOf(
  db: Connection,
  { scope, scopeId }: AssignmentScope,
): Promise<Right | undefined> {
  switch (scope) {
    case 'organization':
      return 'EDIT_ORGANIZATION_SETTINGS';
    case 'project':
      return 'EDIT_PROJECT_SETTINGS';
    case 'template':
      return (await getTemplateRow(db, scopeId))?.is_single_use
        ? 'EDIT_VCS_ENVIRONMENT'
        : 'CREATE_AND_EDIT_TEMPLATES';
    case 'environment':
      return 'EDIT_ENVIRONMENT_SETTINGS';
    default:
      return undefined;
  }
}

/** @throws Refusal 403 */
export function requireViewRight({ actor }: ActorContext, place: AssignmentPlace): void {
  requireRight(actor, place.home, viewRightOf(place), `/params/scope ${place.scope}`);
}

/** @throws Refusal 400 for a deployment, whose sets never change, 403 */
export async function requireEditRight({ db, actor }: ActorContext, place: AssignmentPlace): Promise<void> {
  const right = await editRightOf(db, place);
  if (!right)
    throw badField('params.scope', `${place.scope} cannot be changed: assign the sets to its environment`);
  requireRight(actor, place.home, right, `/params/scope ${place.scope}`);
}

/** The places whose sets hold at a place, itself included, from the organization inwards. */
export async function placesAround(db: Connection, place: AssignmentPlace): Promise<AssignmentScope[]> {
  const { scope, scopeId, home } = place;
  const own: AssignmentScope = { scope, scopeId };
  if (scope === 'deployment') return [own];
  const outer: AssignmentScope[] = [{ scope: 'organization', scopeId: home.organizationId }];
  if (scope === 'organization') return outer;
  if (scope === 'template') return [...outer, own];
  const environment = scope === 'environment' ? await getEnvironmentRow(db, scopeId) : undefined;
  if (environment) outer.push({ scope: 'template', scopeId: environment.template_id });
  for (const { id } of await projectPath(db, home.projectId ?? scopeId))
    outer.push({ scope: 'project', scopeId: id });
  return environment ? [...outer, own] : outer;
}
