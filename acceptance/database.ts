/** Looks into the embedded database of a scratch service, as an administrator of the machine could. */
import { join } from 'node:path';
import { Client } from 'pg';
import type { RunningService } from './service.ts';

/** Connects for as long as `work` takes. */
export async function withDatabase<Result>(
  { folder }: Pick<RunningService, 'folder'>,
  work: (database: Client) => Promise<Result>,
): Promise<Result> {
  const database = new Client({
    host: join(folder, 'data', 'postgresql', 'socket'),
    port: 5432,
    user: 'envarium',
    database: 'envarium',
  });
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/**
 * Every row of every table as text, with the bytes of binary columns appended as text: what a search for a
 * word has to look at.
 */
export function allTables(
  service: Pick<RunningService, 'folder'>,
): Promise<{ readonly table: string; readonly bytes: Buffer }[]> {
  return withDatabase(service, async (database) => {
    const tables = await database.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    const found: { table: string; bytes: Buffer }[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await database.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
      const values = rows.flatMap((row) => Object.values(row));
      const bytes = values.map((value) =>
        Buffer.isBuffer(value)
          ? value
          : Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')),
      );
      found.push({ table: name, bytes: Buffer.concat(bytes.flatMap((value) => [value, Buffer.from('\n')])) });
    }
    return found;
  });
}
