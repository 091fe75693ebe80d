/**
 * Statements that come again and again: their text is written once, PostgreSQL parses it once per connection,
 * and keeps the plan.
 */
import type { Writable } from 'node:stream';
import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import type { Schema } from '../../rows/schema.ts';
import { isStalePlan } from './transaction.ts';

/** Uses of a text before it is prepared: what is used once is not worth the memory of a connection. */
const usesBefore = 2;
const mostTexts = 2000;
/** Longer texts are lists of varying length. */
const longestText = 8000;

interface StatementUse {
  count: number;
  name: string;
}

const uses = new Map<string, StatementUse>();
let names = 0;

/** @returns the name under which a text is prepared, or undefined where it is not */
function nameOf(text: string): string | undefined {
  if (text.length > longestText) return undefined;
  const known = uses.get(text);
  if (known) return known.count++ < usesBefore ? undefined : known.name;
  if (uses.size < mostTexts) uses.set(text, { count: 1, name: `s${++names}` });
  return undefined;
}

/** The part of a client that its types omit. */
interface Wired {
  readonly connection: { readonly stream: Writable };
}

/** A connection that prepares repeated statements, and sends simultaneous ones at once. */
export class PreparingClient extends pg.Client {
  #isCollecting = false;

  /** Statements of the same moment leave in one write: each write wakes PostgreSQL, which takes 0.2 ms. */
  #collect(): void {
    if (this.#isCollecting) return;
    const { stream } = (this as unknown as Wired).connection;
    this.#isCollecting = true;
    stream.cork();
    process.nextTick(() => {
      this.#isCollecting = false;
      stream.uncork();
    });
  }

  override query(...args: unknown[]): never {
    const [text, values] = args;
    this.#collect();
    // Several commands in one text, which cannot be prepared, come without values.
    const isPlain =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 && args.length === 2;
    const name = isPlain ? nameOf(text) : undefined;
    const ask = super.query.bind(this) as (...parts: unknown[]) => Promise<unknown>;
    if (!isPlain || name === undefined) return ask(...args) as never;
    return ask({ name, text, values }).catch((error: unknown) => {
      if (!isStalePlan(error)) throw error;
      // A migration has changed a table. Inside of a transaction this fails, and the transaction is repeated.
      uses.delete(text);
      return ask(text, values).catch(() => Promise.reject(error as Error));
    }) as never;
  }
}

/**
 * A statement as text with `$1`, `$2` …, which is not built and compiled for each use.
 * @typeParam Row what each row has, as `pg` reads it
 */
export function statement<Row>(
  text: string,
): (db: Kysely<Schema>, ...parameters: readonly unknown[]) => Promise<Row[]> {
  return async (db, ...parameters) => {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
    return rows;
  };
}

/**
 * A list for `in` as a part of the text. As parameters of a prepared statement, PostgreSQL could not tell that a
 * partial index has the rows.
 * @param values of an enumeration of ours, never of a caller
 */
export function constants<Value extends string>(values: readonly Value[]): RawBuilder<Value> {
  return sql.raw<Value>(constantsText(values));
}

/** The same as text. */
export function constantsText(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}
