/** SQL of failed sign-ins, and of the addresses that people signed in from. */
import { sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';

/** Delays of further attempts after failures under one key. */
export interface Pace {
  /** Fewer failures than this cause no wait. */
  readonly free: number;
  /** The longest wait; the first is one second, and each further one twice as long. */
  readonly mostSeconds: number;
  /** Failures are forgotten after this time without another one. */
  readonly forgetSeconds: number;
}

/**
 * Counts an attempt as failed before it is made, so that a crowd of attempts at once is not faster.
 * @returns null, or until when no attempt is accepted
 */
export async function takeAttempt(db: Connection, key: Buffer, now: Date, pace: Pace): Promise<Date | null> {
  const forgotten = new Date(now.getTime() - pace.forgetSeconds * 1000);
  const failures = sql<number>`case when sign_in_attempt.last_failed_at < ${forgotten} then 1
    else sign_in_attempt.failures + 1 end`;
  const taken = await db
    .insertInto('sign_in_attempt')
    .values({ key, failures: 1, last_failed_at: now, wait_until: now })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({
          failures,
          last_failed_at: now,
          wait_until: sql<Date>`${now}::timestamptz + case when ${failures} < ${pace.free} then interval '0'
            else least(power(2, least(${failures} - ${pace.free}, 30)), ${pace.mostSeconds}::float8) * interval '1 second' end`,
        })
        .where('sign_in_attempt.wait_until', '<=', now),
    )
    .returning('key')
    .executeTakeFirst();
  if (taken) return null;
  const row = await db
    .selectFrom('sign_in_attempt')
    .select('wait_until')
    .where('key', '=', key)
    .executeTakeFirst();
  return row?.wait_until ?? now;
}

/** The attempt was successful: nothing of the key's failures remains. */
export async function forgetAttempts(db: Connection, key: Buffer): Promise<void> {
  await db.deleteFrom('sign_in_attempt').where('key', '=', key).execute();
}

/** The attempt was successful, and is not counted; earlier failures are. */
export async function returnAttempt(db: Connection, key: Buffer, now: Date): Promise<void> {
  await db
    .updateTable('sign_in_attempt')
    .set((eb) => ({ failures: sql<number>`greatest(${eb.ref('failures')} - 1, 0)`, wait_until: now }))
    .where('key', '=', key)
    .execute();
}

export async function deleteAttemptsBefore(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('sign_in_attempt').where('last_failed_at', '<', before).execute();
}

/** Whether a person has signed in from an address before. */
export async function hasSignedInFrom(
  db: Connection,
  userId: string,
  address: string,
  since: Date,
): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_address')
    .select('address')
    .where('user_id', '=', userId)
    .where('address', '=', address)
    .where('last_at', '>', since)
    .executeTakeFirst();
  return row !== undefined;
}

export async function storeAddress(
  db: Connection,
  row: { readonly userId: string; readonly address: string; readonly at: Date },
): Promise<void> {
  await db
    .insertInto('sign_in_address')
    .values({ user_id: row.userId, address: row.address, last_at: row.at })
    .onConflict((conflict) => conflict.columns(['user_id', 'address']).doUpdateSet({ last_at: row.at }))
    .execute();
}

export async function deleteAddressesBefore(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('sign_in_address').where('last_at', '<', before).execute();
}

export async function deleteAddressesOf(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('sign_in_address').where('user_id', '=', userId).execute();
}
