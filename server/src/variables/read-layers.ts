/** Reads what the levels of a place have, for `resolvePrecedence`. */
import {
  type AssignedSet,
  type ProposedAssignments,
  setsAssignedTo,
} from '../configuration-sets/configuration-set-store.ts';
import type { Connection } from '../context.ts';
import type { Candidate, Layer } from './precedence.ts';
import { listVariablesOf, type ScopeOf, type VariableRow } from './variable-store.ts';

function keyOf(scope: string, scopeId: string): string {
  return `${scope} ${scopeId}`;
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

/** What levels have. */
export interface LevelContents<Row extends Candidate = VariableRow> {
  /** In the order of the levels. */
  readonly layers: readonly Layer<Row>[];
  /** The sets that are assigned to them, each once, in the order of assignment. */
  readonly setIds: readonly string[];
}

/**
 * @param levels from the outermost to the innermost
 * @param proposed changes of assignments as if they were stored
 */
export function readLevels(
  db: Connection,
  levels: readonly ScopeOf[],
  proposed?: ProposedAssignments,
): Promise<LevelContents> {
  return levelsWith(listVariablesOf, db, levels, proposed);
}

/** The same, with as much of each variable as `list` reads. */
export async function levelsWith<Row extends Candidate & Pick<VariableRow, 'scope' | 'scope_id'>>(
  list: (db: Connection, homes: readonly ScopeOf[]) => Promise<Row[]>,
  db: Connection,
  levels: readonly ScopeOf[],
  proposed?: ProposedAssignments,
): Promise<LevelContents<Row>> {
  const [assigned, own] = await Promise.all([assignedSets(db, levels, proposed), list(db, levels)]);
  const setIds = [...new Set(assigned.map(({ setId }) => setId))];
  const inSets = await list(
    db,
    setIds.map((scopeId) => ({ scope: 'SET', scopeId })),
  );
  const rowsOf = Map.groupBy([...own, ...inSets], (row) => keyOf(row.scope, row.scope_id));
  const layers = levels.map(({ scope, scopeId }) => ({
    sets: assigned
      .filter((each) => each.scope === scope && each.scopeId === scopeId)
      .map(({ setId }) => rowsOf.get(keyOf('SET', setId)) ?? []),
    rows: rowsOf.get(keyOf(scope, scopeId)) ?? [],
  }));
  return { layers, setIds };
}

/** The variables alone. */
export async function readLayers(
  ...what: Parameters<typeof readLevels>
): Promise<readonly Layer<VariableRow>[]> {
  return (await readLevels(...what)).layers;
}
