import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from './testing.ts';

/** Columns by table as `schema.ts` declares them: `name` or `name?` for one that may be null. */
function declaredTables(): Map<string, string[]> {
  const text = readFileSync(join(import.meta.dirname, 'schema.ts'), 'utf8');
  const interfaces = new Map<string, string[]>();
  for (const [, name = '', body = ''] of text.matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)) {
    interfaces.set(
      name,
      [...body.matchAll(/^ {2}(\w+): (.+);$/gm)].map(
        ([, column = '', type = '']) => `${column}${/\| null|JsonOrNull/.test(type) ? '?' : ''} ${type}`,
      ),
    );
  }
  const tables = interfaces.get('Schema') ?? [];
  return new Map(
    tables.map((line) => {
      const [table = '', type = ''] = line.split(' ');
      return [table, (interfaces.get(type) ?? []).map((column) => column.split(' ')[0] ?? '').sort()];
    }),
  );
}

test('the types of the tables are those that the migrations make', async () => {
  await using database = await testDatabase();
  const { rows } = await database.pool.query<{ table: string; columns: string[] }>(`
    select table_name as table, array_agg(column_name || case when is_nullable = 'YES' then '?' else '' end) as columns
    from information_schema.columns where table_schema = 'public' and table_name <> 'migration' group by table_name`);
  const made = new Map(rows.map(({ table, columns }) => [table, columns.sort()]));
  assert.deepEqual(Object.fromEntries(declaredTables()), Object.fromEntries(made));
});
