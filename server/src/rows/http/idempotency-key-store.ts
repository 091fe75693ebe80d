/** SQL of idempotency keys, each with the sealed reply of the request that used it. */
import type { Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { IdempotencyKeyTable } from '../schema.ts';

export interface IdempotencyKey {
  readonly key: string;
  readonly fingerprint: string;
}

/** @returns whether the key was unused; others that send the same wait here until the first is done */
export async function takeKey(
  tx: Connection,
  actorId: string,
  { key, fingerprint }: IdempotencyKey,
): Promise<boolean> {
  const row = await tx
    .insertInto('idempotency_key')
    .values({ actor_id: actorId, key, request_sha256: fingerprint })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst();
  return row !== undefined;
}

export async function storeReply(
  tx: Connection,
  actorId: string,
  key: string,
  sealedReply: Buffer,
): Promise<void> {
  await tx
    .updateTable('idempotency_key')
    .set({ sealed_reply: sealedReply })
    .where('actor_id', '=', actorId)
    .where('key', '=', key)
    .execute();
}

/** A key that was used before. */
export async function getUsedKey(
  db: Connection,
  actorId: string,
  key: string,
): Promise<Selectable<IdempotencyKeyTable>> {
  return db
    .selectFrom('idempotency_key')
    .selectAll()
    .where('actor_id', '=', actorId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
}

export async function deleteKeysBefore(db: Connection, before: Date): Promise<void> {
  await db.deleteFrom('idempotency_key').where('created_at', '<', before).execute();
}
