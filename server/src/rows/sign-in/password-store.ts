/** SQL of passwords. */
import type { Connection, Context } from '../../framework/context.ts';

type PasswordSealing = Pick<Context, 'sealer'>;

function association(userId: string) {
  return { table: 'password', row: userId, field: 'sealed_hash' };
}

/** @returns the hash of a user's password, or null where the account has none */
export async function getPasswordHash(
  db: Connection,
  { sealer }: PasswordSealing,
  userId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('password')
    .select('sealed_hash')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ? sealer.open(row.sealed_hash, association(userId)).toString('utf8') : null;
}

/** Sets or replaces a user's password. */
export async function storePasswordHash(
  tx: Connection,
  { sealer, now }: Pick<Context, 'sealer' | 'now'>,
  userId: string,
  hash: string,
): Promise<void> {
  const values = { sealed_hash: sealer.seal(hash, association(userId)), changed_at: now() };
  await tx
    .insertInto('password')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

export async function hasPassword(db: Connection, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('password')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether any account has a password. */
export async function isAnyPassword(db: Connection): Promise<boolean> {
  return (await db.selectFrom('password').select('user_id').limit(1).executeTakeFirst()) !== undefined;
}

export async function deletePassword(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('password').where('user_id', '=', userId).execute();
}
