/** SQL of configuration sets and their assignments. The variables of a set are rows of the scope SET. */
import { type Insertable, type Selectable, type Updateable } from 'kysely';
import type { SetAssignmentScope } from '#contract/configuration-sets/shapes.ts';
import type { VariableScope } from '#contract/schema/enumerations.ts';
import type { Connection } from '../../framework/context.ts';
import { unlessTaken } from '../../ground/database/unless-taken.ts';
import { homeById } from '../entity-home.ts';
import type { ConfigurationSetTable } from '../schema.ts';
import type { ScopeOf } from '../variables/variable-store.ts';

export type SetRow = Selectable<ConfigurationSetTable>;

/** Scopes of assignments of sets. */
export interface AssignmentScope {
  readonly scope: SetAssignmentScope;
  readonly scopeId: string;
}

/** Scope in which a set was created. */
export type CreatedIn = Pick<SetRow, 'organization_id' | 'project_id'>;

/** @returns the row, or undefined where the scope already has a set of this name */
export async function insertSet(
  tx: Connection,
  values: Insertable<ConfigurationSetTable>,
): Promise<SetRow | undefined> {
  return tx
    .insertInto('configuration_set')
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

function created(db: Connection, { organization_id, project_id }: CreatedIn) {
  return db
    .selectFrom('configuration_set')
    .where('organization_id', '=', organization_id)
    .where('project_id', project_id === null ? 'is' : '=', project_id)
    .where('deleted_at', 'is', null);
}

/** Sets that were created in the organization itself, or in the project; newest first. */
export async function listSetRows(db: Connection, createdIn: CreatedIn): Promise<SetRow[]> {
  return created(db, createdIn).selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').execute();
}

/** A set that was not deleted. */
export async function getSetRow(db: Connection, id: string): Promise<SetRow | undefined> {
  return db
    .selectFrom('configuration_set')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** The same, locked until the transaction ends. */
export async function lockSetRow(tx: Connection, id: string): Promise<SetRow | undefined> {
  return tx
    .selectFrom('configuration_set')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** Sets that were not deleted, locked until the transaction ends; in no particular order. */
export async function holdSetRows(tx: Connection, ids: readonly string[]): Promise<SetRow[]> {
  if (ids.length === 0) return [];
  return tx
    .selectFrom('configuration_set')
    .selectAll()
    .where('id', 'in', [...ids])
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forShare()
    .execute();
}

/** @returns the row as it is now, or undefined where the scope already has another set of this name */
export async function updateSetRow(
  tx: Connection,
  id: string,
  changes: Updateable<ConfigurationSetTable>,
): Promise<SetRow | undefined> {
  return unlessTaken(
    tx
      .updateTable('configuration_set')
      .set(changes)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** Home of a set that was not deleted. */
export const setHome = homeById(getSetRow);

/** Assigns sets in their order, after those that are already there. @returns ids of those that were not */
export async function insertAssignments(
  tx: Connection,
  { scope, scopeId }: AssignmentScope,
  setIds: readonly string[],
  by: { readonly userId: string; readonly at: Date },
): Promise<Set<string>> {
  if (setIds.length === 0) return new Set();
  const rows = await tx
    .insertInto('configuration_set_assignment')
    .values(
      setIds.map((setId) => ({
        set_id: setId,
        scope,
        scope_id: scopeId,
        assigned_by: by.userId,
        assigned_at: by.at,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('set_id')
    .execute();
  return new Set(rows.map((row) => row.set_id));
}

/** The sets of these that are assigned at a place itself, those included that were deleted since. */
export async function assignedThere(
  db: Connection,
  { scope, scopeId }: AssignmentScope,
  setIds: readonly string[],
): Promise<SetRow[]> {
  if (setIds.length === 0) return [];
  return db
    .selectFrom('configuration_set_assignment as assignment')
    .innerJoin('configuration_set as set', 'set.id', 'assignment.set_id')
    .selectAll('set')
    .where('assignment.scope', '=', scope)
    .where('assignment.scope_id', '=', scopeId)
    .where('set.id', 'in', [...setIds])
    .execute();
}

/** Author of each assignment of a set at a place itself, by the id of the set. */
export async function assignersThere(
  db: Connection,
  { scope, scopeId }: AssignmentScope,
  setIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('configuration_set_assignment')
    .select(['set_id', 'assigned_by'])
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .where('set_id', 'in', [...setIds])
    .execute();
  return new Map(rows.map((row) => [row.set_id, row.assigned_by]));
}

export async function deleteAssignments(
  tx: Connection,
  { scope, scopeId }: AssignmentScope,
  setIds: readonly string[],
): Promise<void> {
  if (setIds.length === 0) return;
  await tx
    .deleteFrom('configuration_set_assignment')
    .where('scope', '=', scope)
    .where('scope_id', '=', scopeId)
    .where('set_id', 'in', [...setIds])
    .execute();
}

/** Assignments of a set, in their order; those of deployments are left out. */
export async function assignmentsOf(db: Connection, setId: string): Promise<AssignmentScope[]> {
  return db
    .selectFrom('configuration_set_assignment')
    .select(['scope', 'scope_id as scopeId'])
    .where('set_id', '=', setId)
    .where('scope', '<>', 'deployment')
    .orderBy('number')
    .execute();
}

/** Of places that are deleted. */
export async function deleteAssignmentsOf(
  tx: Connection,
  scope: SetAssignmentScope,
  scopeIds: readonly string[],
): Promise<void> {
  if (scopeIds.length === 0) return;
  await tx
    .deleteFrom('configuration_set_assignment')
    .where('scope', '=', scope)
    .where('scope_id', 'in', [...scopeIds])
    .execute();
}

/** The scopes of variables to which sets can be assigned. A workflow is an environment. */
const assignable: Partial<Record<VariableScope, SetAssignmentScope>> = {
  GLOBAL: 'organization',
  BLUEPRINT: 'template',
  PROJECT: 'project',
  WORKFLOW: 'environment',
  ENVIRONMENT: 'environment',
  DEPLOYMENT: 'deployment',
};

function placesOf(scopes: readonly ScopeOf[]) {
  return scopes.flatMap(({ scope, scopeId }) => {
    const assignment = assignable[scope];
    return assignment ? [{ assignment, scope, scopeId }] : [];
  });
}

/** The places where the sets of some scopes of variables are assigned, each once and in their order. */
export function assignmentScopesOf(scopes: readonly ScopeOf[]): AssignmentScope[] {
  const all = placesOf(scopes).map(({ assignment, scopeId }) => ({ scope: assignment, scopeId }));
  return [...new Map(all.map((each) => [`${each.scope} ${each.scopeId}`, each])).values()];
}

function assignedTo(db: Connection, places: readonly AssignmentScope[]) {
  return db
    .selectFrom('configuration_set_assignment as assignment')
    .innerJoin('configuration_set as set', 'set.id', 'assignment.set_id')
    .where((eb) =>
      eb.or(
        places.map(({ scope, scopeId }) =>
          eb.and([eb('assignment.scope', '=', scope), eb('assignment.scope_id', '=', scopeId)]),
        ),
      ),
    );
}

/** Changes to the sets of an environment, by their ids. */
export interface ProposedAssignments {
  readonly environmentId: string;
  readonly assign: readonly string[];
  readonly unassign: readonly string[];
}

type SetAssignmentRow = Readonly<Record<'set_id' | 'scope_id', string>> & {
  readonly scope: SetAssignmentScope;
};

/** Pure: the rows as they would be. */
function withProposed(
  rows: readonly SetAssignmentRow[],
  { environmentId, assign, unassign }: ProposedAssignments,
): readonly SetAssignmentRow[] {
  const isThere = ({ scope, scope_id }: SetAssignmentRow) =>
    scope === 'environment' && scope_id === environmentId;
  const kept = rows.filter((row) => !(isThere(row) && unassign.includes(row.set_id)));
  const had = new Set(kept.filter(isThere).map((row) => row.set_id));
  const added = assign.filter((id) => !had.has(id));
  return [
    ...kept,
    ...added.map((set_id) => ({ set_id, scope: 'environment' as const, scope_id: environmentId })),
  ];
}

/** A set, and one of the scopes in which its variables hold. */
export interface AssignedSet extends ScopeOf {
  readonly setId: string;
}

/**
 * The sets that are assigned to scopes, without those that were deleted.
 * @param scopes of variables, as `resolveVariables` receives them; those without sets are ignored
 * @param proposed changes as if they were stored
 * @returns one row per assignment, in the order of assignment
 */
export async function setsAssignedTo(
  db: Connection,
  scopes: readonly ScopeOf[],
  proposed?: ProposedAssignments,
): Promise<AssignedSet[]> {
  const places = placesOf(scopes);
  if (places.length === 0) return [];
  const rows = await assignedTo(db, assignmentScopesOf(scopes))
    .select(['assignment.set_id', 'assignment.scope', 'assignment.scope_id'])
    .where('set.deleted_at', 'is', null)
    .orderBy('assignment.number')
    .execute();
  return (proposed ? withProposed(rows, proposed) : rows).flatMap((row) =>
    places
      .filter((place) => place.assignment === row.scope && place.scopeId === row.scope_id)
      .map(({ scope, scopeId }) => ({ setId: row.set_id, scope, scopeId })),
  );
}

export type AssignedSetRow = SetRow & { readonly scope: SetAssignmentScope; readonly scope_id: string };

/** Sets with where they are assigned: by place in the order of `places`, then in the order of assignment. */
export async function listAssignedSets(
  db: Connection,
  places: readonly AssignmentScope[],
): Promise<AssignedSetRow[]> {
  const rows = await assignedTo(db, places)
    .selectAll('set')
    .select(['assignment.scope', 'assignment.scope_id'])
    // Assignments to deployments are history.
    .where((eb) => eb.or([eb('set.deleted_at', 'is', null), eb('assignment.scope', '=', 'deployment')]))
    .orderBy('assignment.number')
    .execute();
  const rank = new Map(places.map(({ scope, scopeId }, index) => [`${scope} ${scopeId}`, index]));
  const rankOf = (row: AssignedSetRow) => rank.get(`${row.scope} ${row.scope_id}`) ?? -1;
  return rows.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Assignments of sets that were created in some projects. */
export async function assignmentsOfSetsIn(
  db: Connection,
  projectIds: readonly string[],
): Promise<(AssignmentScope & { readonly name: string })[]> {
  if (projectIds.length === 0) return [];
  return db
    .selectFrom('configuration_set_assignment as assignment')
    .innerJoin('configuration_set as set', 'set.id', 'assignment.set_id')
    .select(['set.name', 'assignment.scope', 'assignment.scope_id as scopeId'])
    .where('set.project_id', 'in', [...projectIds])
    .where('set.deleted_at', 'is', null)
    .where('assignment.scope', '<>', 'deployment')
    .orderBy('assignment.number')
    .execute();
}
