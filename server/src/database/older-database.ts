/** Databases of older versions, for tests of what a migration does with rows. */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from './migrate.ts';
import type { Database } from './open.ts';
import { testDatabase } from './testing.ts';

/** An id with a number at its end. */
export const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;

/**
 * A database as it was before a migration, with the user `ada`, the organization 1 and its project 2.
 * @param before number of the first migration that is missing, as `0009`
 */
export async function olderDatabase(before: string): Promise<Database> {
  const database = await testDatabase();
  const all = join(import.meta.dirname, 'migrations');
  const older = mkdtempSync(join(tmpdir(), 'envarium-migrations-'));
  try {
    for (const name of readdirSync(all).filter((each) => each < before))
      copyFileSync(join(all, name), join(older, name));
    await database.pool.query('drop schema public cascade; create schema public');
    await migrate(database.db, older);
  } finally {
    rmSync(older, { recursive: true });
  }
  await database.pool.query(`
    insert into app_user (id, email, name) values ('ada', '', 'Ada');
    insert into organization (id, name, created_by) values ('${idOf(1)}', 'o', 'ada');
    insert into project (id, organization_id, name, hierarchy, created_by)
      values ('${idOf(2)}', '${idOf(1)}', 'p', '${idOf(2)}', 'ada');`);
  return database;
}
