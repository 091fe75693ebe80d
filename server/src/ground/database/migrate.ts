/** Brings a database to the schema of this program: numbered SQL files, forward only. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../rows/schema.ts';
import { withoutTimeLimits, withTimeLimits } from './open.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly file: string;
}

const folderOfMigrations = fileURLToPath(new URL('./migrations', import.meta.url));
/** Any number, the same in every server: holds other servers back while one migrates. */
const advisoryLock = 718_281_828;

/**
 * Applies the migrations that the database has not seen, each in a transaction.
 * @param folder where the files lie; another one in tests only
 * @returns the names of those that were applied
 * @throws Error when the database was made by a newer program, or a migration fails
 */
export async function migrate(db: Kysely<Schema>, folder: string = folderOfMigrations): Promise<string[]> {
  const known = readMigrations(folder);
  return db.connection().execute(async (connection) => {
    await sql.raw(withoutTimeLimits).execute(connection);
    await sql`select pg_advisory_lock(${advisoryLock})`.execute(connection);
    try {
      const last = await lastApplied(connection);
      const newest = known.at(-1)?.number ?? 0;
      if (last > newest) {
        throw new Error(
          `The database is newer than this program: it has migration ${last}, this program knows ${newest}. Start the version of Envarium that was used last.`,
        );
      }
      const due = known.filter((migration) => migration.number > last);
      for (const migration of due) await apply(connection, migration);
      return due.map((migration) => migration.name);
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLock})`.execute(connection);
      await sql.raw(withTimeLimits).execute(connection);
    }
  });
}

function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => /^[0-9]{4}-[a-z0-9-]+\.sql$/.test(name))
    .sort();
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name, file: join(folder, name) }));
}

async function lastApplied(connection: Kysely<Schema>): Promise<number> {
  await sql`create table if not exists migration (number integer primary key, name text not null, applied_at timestamptz not null default now())`.execute(
    connection,
  );
  const { rows } = await sql<{ last: number | null }>`select max(number) as last from migration`.execute(
    connection,
  );
  return rows[0]?.last ?? 0;
}

async function apply(connection: Kysely<Schema>, migration: Migration): Promise<void> {
  try {
    await connection.transaction().execute(async (tx) => {
      await sql.raw(readFileSync(migration.file, 'utf8')).execute(tx);
      await sql`insert into migration (number, name) values (${migration.number}, ${migration.name})`.execute(
        tx,
      );
    });
  } catch (error) {
    throw new Error(
      `Migration ${migration.name} failed; the database is unchanged: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
