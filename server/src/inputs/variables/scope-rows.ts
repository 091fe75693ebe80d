/**
 * The variables of one scope while a request changes them: read once and written together, however many
 * changes there are.
 */
import type { VariableType } from '#contract/schema/enumerations.ts';
import type { Connection } from '../../framework/context.ts';
import type { ProposedAssignments } from '../../rows/configuration-sets/configuration-set-store.ts';
import { deleteVariables, saveVariables, type VariableRow } from '../../rows/variables/variable-store.ts';
import { levelsOf, type VariableLevels } from './levels.ts';
import { type Layer, type ResolvedVariable, resolvePrecedence, variableKey } from './precedence.ts';
import { readLayers } from './read-layers.ts';

export class ScopeRows {
  readonly #db: Connection;
  readonly #byId = new Map<string, VariableRow>();
  readonly #byName = new Map<string, VariableRow>();
  readonly #outer: ReadonlyMap<string, ResolvedVariable<VariableRow>>;
  readonly #outerById: ReadonlyMap<string, VariableRow>;
  /** Not yet written. */
  readonly #saved = new Map<string, VariableRow>();
  readonly #removed = new Set<string>();

  readonly #isWritten: boolean;

  private constructor(db: Connection, outer: readonly Layer<VariableRow>[], isWritten: boolean) {
    this.#db = db;
    this.#isWritten = isWritten;
    this.#outer = resolvePrecedence(outer);
    const rows = outer.flatMap(({ sets, rows }) => [...sets.flat(), ...rows]);
    this.#outerById = new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * Reads the variables of a scope, and those that it inherits.
   * @param tried that changes are only tried out and nothing is written, with the sets that would be assigned
   */
  static async read(
    db: Connection,
    home: VariableLevels,
    tried?: { readonly assignments?: ProposedAssignments },
  ): Promise<ScopeRows> {
    const layers = await readLayers(db, levelsOf(home), tried?.assignments);
    const own = layers.at(-1) ?? { sets: [], rows: [] };
    const scope = new ScopeRows(db, [...layers.slice(0, -1), { sets: own.sets, rows: [] }], !tried);
    for (const row of own.rows) scope.#know(row);
    return scope;
  }

  byId(id: string): VariableRow | undefined {
    return this.#byId.get(id);
  }

  named(name: string, type: number): VariableRow | undefined {
    return this.#byName.get(variableKey({ name, type: type as VariableType }));
  }

  /** The variable of an outer scope with this id, whether or not it counts there. */
  inherited(id: string): VariableRow | undefined {
    return this.#outerById.get(id);
  }

  /** Inherited variable of the scope under a name. */
  inheritedAs(name: string, type: number): ResolvedVariable<VariableRow> | undefined {
    return this.#outer.get(variableKey({ name, type: type as VariableType }));
  }

  /**
   * A new or changed variable. One that gets another name is written on its own, after what came before it:
   * names are unique at every moment.
   * @param before the row that it replaces
   */
  async save(row: VariableRow, before?: VariableRow): Promise<void> {
    const isRenamed = before !== undefined && (before.name !== row.name || before.type !== row.type);
    if (isRenamed) await this.flush();
    if (before) this.#forget(before);
    this.#know(row);
    this.#saved.set(row.id, row);
    if (isRenamed) await this.flush();
  }

  remove(row: VariableRow): void {
    this.#forget(row);
    this.#saved.delete(row.id);
    this.#removed.add(row.id);
  }

  /** Writes what was changed. */
  async flush(): Promise<void> {
    if (!this.#isWritten) return;
    await deleteVariables(this.#db, [...this.#removed]);
    await saveVariables(this.#db, [...this.#saved.values()]);
    this.#removed.clear();
    this.#saved.clear();
  }

  /** Rows that are not written because they are unchanged, and those that are new or changed. */
  tried(): { kept: VariableRow[]; changed: VariableRow[] } {
    return {
      kept: [...this.#byId.values()].filter(({ id }) => !this.#saved.has(id)),
      changed: [...this.#saved.values()],
    };
  }

  #know(row: VariableRow): void {
    this.#byId.set(row.id, row);
    this.#byName.set(variableKey(row), row);
  }

  #forget(row: VariableRow): void {
    this.#byId.delete(row.id);
    this.#byName.delete(variableKey(row));
  }
}
