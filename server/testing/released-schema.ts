/**
 * The schema of the last release, in which servers of that release write while others are already replaced:
 * migrations since then only add (expand). What the last release no longer uses may be removed after it (contract).
 */
import type { Database } from '../src/ground/database/open.ts';

/** The newest migration of the last release; until the first release, the only one that may be edited. */
export const lastReleasedMigration = '0001-schema.sql';

export interface SchemaColumn {
  readonly type: string;
  readonly isNullable: boolean;
  /** The database fills it where a statement does not name it. */
  readonly isFilled: boolean;
}

export interface SchemaTable {
  readonly columns: Readonly<Record<string, SchemaColumn>>;
  /** Objects that can refuse a row: constraints, unique indexes and triggers, as PostgreSQL prints them. */
  readonly refusals: readonly string[];
}

/** Tables by name. */
export type SchemaDescription = Readonly<Record<string, SchemaTable>>;

/**
 * Differences that may break servers of the last release, as `compareSchemas` reports them, with the reason why
 * they do not: the last release no longer uses it.
 */
export const contractions: Readonly<Record<string, string>> = {};

const columnsOf = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
    not a.attnotnull as "isNullable", (a.atthasdef or a.attidentity <> '') as "isFilled"
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  order by c.relname, a.attname`;

// A foreign key is as good under another name, and so is everything else that refuses rows.
const refusalsOf = `
  select conrelid::regclass::text as table, pg_get_constraintdef(oid) as refusal from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'u', 'p', 'x')
  union
  select tablename, regexp_replace(indexdef, '^CREATE UNIQUE INDEX \\S+ ', 'UNIQUE INDEX ') from pg_indexes
    where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'
  union
  select tgrelid::regclass::text, regexp_replace(pg_get_triggerdef(oid), '^CREATE (CONSTRAINT )?TRIGGER \\S+ ', 'TRIGGER ')
    from pg_trigger where not tgisinternal
  order by 1, 2`;

/** Reads the schema of a migrated database. */
export async function describeSchema({ pool }: Pick<Database, 'pool'>): Promise<SchemaDescription> {
  const tables: Record<string, { columns: Record<string, SchemaColumn>; refusals: string[] }> = {};
  const tableOf = (name: string) => (tables[name] ??= { columns: {}, refusals: [] });
  const columns = await pool.query<SchemaColumn & { table: string; name: string }>(columnsOf);
  for (const { table, name, ...column } of columns.rows) tableOf(table).columns[name] = column;
  const refusals = await pool.query<{ table: string; refusal: string }>(refusalsOf);
  for (const { table, refusal } of refusals.rows) tableOf(table).refusals.push(refusal);
  delete tables['migration'];
  return tables;
}

/** @returns what servers of the released schema can no longer read or write in the newest one, as sentences */
export function compareSchemas(released: SchemaDescription, newest: SchemaDescription): string[] {
  return Object.entries(released).flatMap(([name, before]) => {
    const after = newest[name];
    if (after === undefined) return [`table ${name} is missing`];
    const known = Object.entries(before.columns).flatMap(([column, one]) =>
      changesOf(`column ${name}.${column}`, one, after.columns[column]),
    );
    const added = Object.entries(after.columns)
      .filter(([column, { isNullable, isFilled }]) => !before.columns[column] && !isNullable && !isFilled)
      .map(([column]) => `column ${name}.${column} is new, may not be null and has no default`);
    const refused = after.refusals
      .filter((refusal) => !before.refusals.includes(refusal))
      .map((refusal) => `table ${name} refuses more: ${refusal}`);
    return [...known, ...added, ...refused];
  });
}

function changesOf(name: string, before: SchemaColumn, after: SchemaColumn | undefined): string[] {
  if (after === undefined) return [`${name} is missing`];
  if (after.type !== before.type) return [`${name} is ${after.type} and was ${before.type}`];
  if (before.isNullable && !after.isNullable) return [`${name} may no longer be null`];
  return before.isFilled && !after.isFilled && !after.isNullable ? [`${name} has lost its default`] : [];
}
