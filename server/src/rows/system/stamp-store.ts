/** SQL of the stamps by which servers prove that the database could store contacts. */
import type { Connection } from '../../framework/context.ts';

export async function insertStamp(db: Connection, at: Date): Promise<void> {
  await db
    .insertInto('server_stamp')
    .values({ stamped_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteStampsBefore(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('server_stamp').where('stamped_at', '<', before).execute();
}

/** Stamps later than a time, of a clock that was set back since. */
export async function deleteStampsAfter(db: Connection, after: Date): Promise<void> {
  await db.deleteFrom('server_stamp').where('stamped_at', '>', after).execute();
}

/** Newest first. */
export async function listStampsSince(db: Connection, since: Date): Promise<Date[]> {
  const rows = await db
    .selectFrom('server_stamp')
    .select('stamped_at')
    .where('stamped_at', '>=', since)
    .orderBy('stamped_at', 'desc')
    .execute();
  return rows.map((row) => row.stamped_at);
}
