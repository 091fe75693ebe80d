/**
 * The variables of one scope while a request changes them: read once and written together, however many
 * changes there are.
 */
import type { Connection } from '../context.ts';
import {
  deleteVariables,
  listVariables,
  listVariablesOf,
  saveVariables,
  type ScopeOf,
  type VariableRow,
} from './variable-store.ts';

function nameOf(name: string, type: number): string {
  return `${type} ${name}`;
}

export class ScopeRows {
  readonly #db: Connection;
  readonly #outer: readonly ScopeOf[];
  readonly #byId = new Map<string, VariableRow>();
  readonly #byName = new Map<string, VariableRow>();
  /** Not yet written. */
  readonly #saved = new Map<string, VariableRow>();
  readonly #removed = new Set<string>();
  #inherited: Promise<Map<string, VariableRow>> | undefined;

  private constructor(db: Connection, outer: readonly ScopeOf[]) {
    this.#db = db;
    this.#outer = outer;
  }

  /** @param home the scope, and the outer ones whose variables hold there too */
  static async read(
    db: Connection,
    home: ScopeOf & { readonly inherits: readonly ScopeOf[] },
  ): Promise<ScopeRows> {
    const scope = new ScopeRows(db, home.inherits);
    for (const row of await listVariables(db, home)) scope.#know(row);
    return scope;
  }

  byId(id: string): VariableRow | undefined {
    return this.#byId.get(id);
  }

  named(name: string, type: number): VariableRow | undefined {
    return this.#byName.get(nameOf(name, type));
  }

  /** The variable of an outer scope with this id. */
  async inherited(id: string): Promise<VariableRow | undefined> {
    this.#inherited ??= listVariablesOf(this.#db, this.#outer).then(
      (rows) => new Map(rows.map((row) => [row.id, row])),
    );
    return (await this.#inherited).get(id);
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
    await deleteVariables(this.#db, [...this.#removed]);
    await saveVariables(this.#db, [...this.#saved.values()]);
    this.#removed.clear();
    this.#saved.clear();
  }

  #know(row: VariableRow): void {
    this.#byId.set(row.id, row);
    this.#byName.set(nameOf(row.name, row.type), row);
  }

  #forget(row: VariableRow): void {
    this.#byId.delete(row.id);
    this.#byName.delete(nameOf(row.name, row.type));
  }
}
