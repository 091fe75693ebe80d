/** SQL of users: people, and keys that act as users of their own. */
import type { Selectable } from 'kysely';
import type { Connection } from '../context.ts';
import type { AppUserTable } from '../database/schema.ts';

export type UserRow = Selectable<AppUserTable>;

/** @returns users by id; ids that nobody has are missing */
export async function getUsers(db: Connection, ids: readonly string[]): Promise<Map<string, UserRow>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const rows = await db.selectFrom('app_user').selectAll().where('id', 'in', unique).execute();
  return new Map(rows.map((row) => [row.id, row]));
}
