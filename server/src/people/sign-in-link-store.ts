/** SQL of one-time links that sign people in. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../context.ts';
import type { SignInLinkTable } from '../database/schema.ts';

/** Replaces the link that the user had. */
export async function putSignInLink(
  tx: Connection,
  { user_id, ...values }: Insertable<SignInLinkTable>,
): Promise<void> {
  await tx
    .insertInto('sign_in_link')
    .values({ user_id, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** The link of a user, which nobody else uses until the transaction ends. */
export async function lockSignInLink(
  tx: Connection,
  userId: string,
): Promise<Selectable<SignInLinkTable> | undefined> {
  return tx
    .selectFrom('sign_in_link')
    .selectAll()
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
}

export async function deleteSignInLink(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('sign_in_link').where('user_id', '=', userId).execute();
}
