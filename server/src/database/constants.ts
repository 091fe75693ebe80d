/** Constants in the text of a statement. */
import { type RawBuilder, sql } from 'kysely';

/**
 * A list for `in`. As parameters of a prepared statement, PostgreSQL could not tell that a partial index has the rows.
 * @param values of an enumeration of ours, never of a caller
 */
export function constants<Value extends string>(values: readonly Value[]): RawBuilder<Value> {
  return sql<Value>`(${sql.join(values.map((value) => sql.lit(value)))})`;
}

/** The same as text. */
export function constantsText(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(', ')})`;
}
