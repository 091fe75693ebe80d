/** Reads what the levels of a place have, for `resolvePrecedence`. */

import type { Connection } from '../../framework/context.ts';
import {
  type AssignedSet,
  type ProposedAssignments,
  setsAssignedTo,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import {
  listVariablesOf,
  type ScopeOf,
  type VariableRow,
  versionOfScopes,
} from '../../rows/variables/variable-store.ts';
import type { Layer } from './precedence.ts';

function keyOf(scope: string, scopeId: string): string {
  return `${scope} ${scopeId}`;
}

function scopeOfSet(scopeId: string): ScopeOf {
  return { scope: 'SET', scopeId };
}

/** The sets of each level. What is assigned to a workflow's environment holds at its outer level. */
async function assignedSets(
  db: Connection,
  levels: readonly ScopeOf[],
  proposed: ProposedAssignments | undefined,
): Promise<AssignedSet[]> {
  const workflows = levels.filter(({ scope }) => scope === 'WORKFLOW').map(({ scopeId }) => scopeId);
  return setsAssignedTo(
    db,
    levels.filter(({ scope, scopeId }) => scope !== 'ENVIRONMENT' || !workflows.includes(scopeId)),
    proposed,
  );
}

/** Reads the content of levels. */
export interface LevelContents {
  /** In the order of the levels. */
  readonly layers: readonly Layer<VariableRow>[];
  /** The sets that are assigned to them, each once, in the order of assignment. */
  readonly setIds: readonly string[];
}

/**
 * @param levels from the outermost to the innermost
 * @param proposed changes of assignments as if they were stored
 */
export async function readLevels(
  db: Connection,
  levels: readonly ScopeOf[],
  proposed?: ProposedAssignments,
): Promise<LevelContents> {
  const [assigned, own] = await Promise.all([
    assignedSets(db, levels, proposed),
    listVariablesOf(db, levels),
  ]);
  const setIds = [...new Set(assigned.map(({ setId }) => setId))];
  const inSets = await listVariablesOf(db, setIds.map(scopeOfSet));
  const rowsOf = Map.groupBy([...own, ...inSets], (row) => keyOf(row.scope, row.scope_id));
  const layers = levels.map(({ scope, scopeId }) => ({
    sets: assigned
      .filter((each) => each.scope === scope && each.scopeId === scopeId)
      .map(({ setId }) => rowsOf.get(keyOf('SET', setId)) ?? []),
    rows: rowsOf.get(keyOf(scope, scopeId)) ?? [],
  }));
  return { layers, setIds };
}

/** Changes with everything that `readLevels` returns. */
export async function versionOfLevels(db: Connection, levels: readonly ScopeOf[]): Promise<string> {
  const assigned = await assignedSets(db, levels, undefined);
  const setIds = new Set(assigned.map(({ setId }) => setId));
  const variables = await versionOfScopes(db, [...levels, ...[...setIds].map(scopeOfSet)]);
  return `${variables} ${JSON.stringify(assigned)}`;
}

/** The variables alone. */
export async function readLayers(
  ...what: Parameters<typeof readLevels>
): Promise<readonly Layer<VariableRow>[]> {
  return (await readLevels(...what)).layers;
}
