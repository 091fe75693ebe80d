/** Creates, updates and deletes variables of any scope: `POST /configuration`. */

import type { operations } from '#contract/operations.ts';
import type { BodyOf } from '#contract/schema/operation.ts';
import { normalizeVariableChange, type Variable } from '#contract/variables/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, notFound, pointerTo, unknownEntity } from '../../ground/errors.ts';
import { lockSetRow } from '../../rows/configuration-sets/configuration-set-store.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { holdProjectRow } from '../../rows/projects/project-store.ts';
import {
  getVariableRow,
  getVariableRows,
  lockScope,
  lockVariableRow,
  type ScopeOf,
  scopeOf,
  type VariableRow,
} from '../../rows/variables/variable-store.ts';
import { applyVariableChanges } from './apply-variable-changes.ts';
import { entityWords } from './entity-of-scope.ts';
import { type FoundHome, findHome, findVisibleHome } from './find-home.ts';
import { storedScope } from './levels.ts';
import { variableView } from './variable-view.ts';

type SaveVariablesBody = BodyOf<typeof operations.saveVariables>;
type Write = SaveVariablesBody[number];

const keyOf = ({ scope, scopeId }: ScopeOf) => `${scope} ${scopeId}`;

/**
 * The scope that an element of the request is for; one with only an id is for the scope of that variable.
 * @param known the variables that the request names, by id
 */
function scopeOfWrite(known: ReadonlyMap<string, VariableRow>, write: Write, at: string): ScopeOf {
  const { scope, scopeId, organizationId, id } = write;
  if (scope === undefined) {
    if (id === undefined) throw badField(`${at}.scope`, 'is required for a new variable');
    const row = known.get(id.toLowerCase());
    if (!row) throw unknownEntity(`${at}.id`, 'variable');
    return scopeOf(row);
  }
  if (scope === 'DEPLOYMENT')
    throw badField(`${at}.scope`, 'cannot be DEPLOYMENT: only deployments write the values they run with');
  if (scope === 'GLOBAL') {
    if (!organizationId) throw badField(`${at}.organizationId`, 'is required in scope GLOBAL');
    if (scopeId && scopeId.toLowerCase() !== organizationId.toLowerCase())
      throw badField(`${at}.scopeId`, 'is not applicable in scope GLOBAL: leave it out');
    return storedScope({ scope, scopeId: organizationId });
  }
  if (!scopeId) throw badField(`${at}.scopeId`, `is required in scope ${scope}`);
  return storedScope({ scope, scopeId });
}

/**
 * @param found where the scope is, if the caller may know of it
 * @throws Refusal 400 for a scope that is unknown, in another organization, or not for what it names, 403 without the
 * right to change it
 */
function checkHome(
  { actor }: ActorContext,
  found: FoundHome | undefined,
  { scope }: ScopeOf,
  write: Write,
  at: string,
): void {
  const field = write.scope === undefined ? 'id' : scope === 'GLOBAL' ? 'organizationId' : 'scopeId';
  if (!found) throw unknownEntity(`${at}.${field}`, field === 'id' ? 'variable' : entityWords(scope));
  if (write.organizationId && write.organizationId.toLowerCase() !== found.place.organizationId)
    throw badField(`${at}.organizationId`, 'is not the organization of the scope');
  requireRight(actor, found.place, found.rightToChange, pointerTo(at));
  if (found.isWorkflow === false && !write.toDelete)
    throw badField(
      `${at}.${write.scope === undefined ? 'id' : 'scope'}`,
      'is WORKFLOW, which applies to environments of a workflow only, and this is not one: use scope ENVIRONMENT',
    );
}

const isOfEnvironment = ({ scope }: ScopeOf) => scope === 'ENVIRONMENT' || scope === 'WORKFLOW';

/** Environments first, as those have it who deploy them: what they use is held after that. */
function inLockOrder(one: ScopeOf, other: ScopeOf): number {
  if (isOfEnvironment(one) !== isOfEnvironment(other)) return isOfEnvironment(one) ? -1 : 1;
  const [left, right] = isOfEnvironment(one) ? [one.scopeId, other.scopeId] : [keyOf(one), keyOf(other)];
  return left < right ? -1 : 1;
}

/** The variables of these scopes are locked until the transaction ends. */
async function holdScopes({ db }: ActorContext, scopes: readonly ScopeOf[]): Promise<void> {
  for (const scope of scopes.toSorted(inLockOrder)) {
    if (isOfEnvironment(scope)) await lockEnvironmentRow(db, scope.scopeId);
    else if (scope.scope === 'SET') await lockSetRow(db, scope.scopeId);
    else await lockScope(db, scope);
    if (scope.scope === 'PROJECT') await holdProjectRow(db, scope.scopeId);
  }
}

interface Group {
  readonly scope: ScopeOf;
  readonly indexes: number[];
}

/** Elements of the request by the scope that they are for. */
async function groupsOf({ db }: ActorContext, body: SaveVariablesBody): Promise<Group[]> {
  const ids = body.flatMap(({ scope, id }) => (scope === undefined && id !== undefined ? [id] : []));
  const known = await getVariableRows(db, ids);
  const groups = new Map<string, Group>();
  for (const [index, write] of body.entries()) {
    const scope = scopeOfWrite(known, write, `body.${index}`);
    const group = groups.get(keyOf(scope));
    if (group) group.indexes.push(index);
    else groups.set(keyOf(scope), { scope, indexes: [index] });
  }
  return [...groups.values()];
}

function savedView(
  context: ActorContext,
  row: VariableRow | undefined,
  write: Write,
  index: number,
): Variable {
  if (!row) throw badField(`body.${index}.name`, 'does not match a variable of the scope: nothing to delete');
  return { ...variableView(context, row), ...(write.toDelete ? { toDelete: true } : {}) };
}

/**
 * All or none.
 * @returns the variables in the order of the request
 * @throws Refusal that names the first field that cannot be stored
 */
export async function saveVariables(context: ActorContext, body: SaveVariablesBody): Promise<Variable[]> {
  return inTransaction(context, async (context) => {
    const groups = await groupsOf(context, body);
    // Before the locks: a caller without rights does not delay others.
    for (const { scope, indexes } of groups) {
      const found = await findVisibleHome(context.db, context.actor, scope);
      for (const index of indexes) checkHome(context, found, scope, body[index] as Write, `body.${index}`);
    }
    await holdScopes(
      context,
      groups.map(({ scope }) => scope),
    );
    const saved: (VariableRow | undefined)[] = [];
    for (const { scope, indexes } of groups) {
      const found = await findHome(context.db, scope);
      if (!found) throw unknownEntity(`body.${indexes[0] ?? 0}.scopeId`, entityWords(scope.scope));
      const changes = indexes.map((index) => normalizeVariableChange(body[index] as Write));
      const fields = indexes.map((index) => `body.${index}`);
      const rows = await applyVariableChanges(context, found.home, changes, fields);
      for (const [place, index] of indexes.entries()) saved[index] = rows[place];
    }
    return body.map((write, index) => savedView(context, saved[index], write, index));
  });
}

/** @throws Refusal 404 for an unknown variable, 403 without the right to change its scope */
export async function deleteVariable(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    const row = await getVariableRow(context.db, id);
    const found = row && (await findHome(context.db, scopeOf(row)));
    if (!row || !found) throw notFound('variable', id);
    requireRight(context.actor, found.place, found.rightToChange, 'Deleting this variable');
    await holdScopes(context, [scopeOf(row)]);
    if (!(await lockVariableRow(context.db, id))) throw notFound('variable', id);
    await applyVariableChanges(context, found.home, [{ id, toDelete: true }], ['params']);
    return { id };
  });
}
