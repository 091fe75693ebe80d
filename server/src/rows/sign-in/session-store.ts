/** SQL of sessions. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { SessionTable } from '../schema.ts';
import { type Caller, callerOf } from '../users/user-store.ts';

export type SessionRow = Selectable<SessionTable>;

export async function insertSession(tx: Connection, row: Insertable<SessionTable>): Promise<void> {
  await tx.insertInto('session').values(row).execute();
}

/** A session, and the user whose it is: null where the user may not sign in. */
export async function findSession(
  db: Connection,
  id: string,
): Promise<(SessionRow & { readonly caller: Caller | null }) | undefined> {
  return db
    .selectFrom('session')
    .selectAll()
    .select((eb) => callerOf(eb.ref('session.user_id')).as('caller'))
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function storeSessionUse(db: Connection, id: string, at: Date): Promise<void> {
  await db.updateTable('session').set({ last_used_at: at }).where('id', '=', id).execute();
}

/** Newest first. */
export const listSessionRows = rowsWhere('session', 'user_id', 'created_at desc', 'id desc');

/** @returns whether the user had this session */
export async function deleteSessionRow(tx: Connection, userId: string, id: string): Promise<boolean> {
  const row = await tx
    .deleteFrom('session')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Ends the sessions of a user. @param but the one that continues */
export async function deleteSessionsOf(tx: Connection, userId: string, but?: string): Promise<void> {
  await tx
    .deleteFrom('session')
    .where('user_id', '=', userId)
    .$if(but !== undefined, (query) => query.where('id', '<>', but ?? ''))
    .execute();
}

/** @param idleSince of browsers, those that were not used later */
export async function deleteEndedSessions(
  db: Connection,
  { now, idleSince }: { readonly now: Date; readonly idleSince: Date },
): Promise<void> {
  await db
    .deleteFrom('session')
    .where((eb) =>
      eb.or([
        eb('expires_at', '<=', now),
        eb.and([eb('kind', '=', 'browser'), eb('last_used_at', '<=', idleSince)]),
      ]),
    )
    .execute();
}
