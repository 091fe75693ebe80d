/** SQL of one-time links that set passwords. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../context.ts';
import type { PasswordResetTable } from '../database/schema.ts';

/** Replaces the link that the user had. */
export async function putPasswordReset(
  tx: Connection,
  { user_id, ...values }: Insertable<PasswordResetTable>,
): Promise<void> {
  await tx
    .insertInto('password_reset')
    .values({ user_id, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** The link of a user, which nobody else uses until the transaction ends. */
export async function lockPasswordReset(
  tx: Connection,
  userId: string,
): Promise<Selectable<PasswordResetTable> | undefined> {
  return tx
    .selectFrom('password_reset')
    .selectAll()
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
}

export async function deletePasswordReset(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('password_reset').where('user_id', '=', userId).execute();
}
