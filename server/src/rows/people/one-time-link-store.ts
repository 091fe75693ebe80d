/** SQL of one-time links: for each person at most one of a kind. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { PasswordResetTable, SignInLinkTable } from '../schema.ts';

/** Purpose of a link: the table that keeps those of its kind. */
export type LinkKind = 'password_reset' | 'sign_in_link';

type LinkTable = PasswordResetTable & SignInLinkTable;

/** Replaces the link of this kind that the user had. */
export async function putLink(
  tx: Connection,
  kind: LinkKind,
  { user_id, ...values }: Insertable<LinkTable>,
): Promise<void> {
  await tx
    .insertInto(kind)
    .values({ user_id, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

/** The link of a user, locked until the transaction ends. */
export async function lockLink(
  tx: Connection,
  kind: LinkKind,
  userId: string,
): Promise<Selectable<LinkTable> | undefined> {
  return tx.selectFrom(kind).selectAll().where('user_id', '=', userId).forUpdate().executeTakeFirst();
}

export async function deleteLink(tx: Connection, kind: LinkKind, userId: string): Promise<void> {
  await tx.deleteFrom(kind).where('user_id', '=', userId).execute();
}
