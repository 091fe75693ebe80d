/** SQL of identities that providers vouch for. */
import type { Connection } from '../../framework/context.ts';

/** @returns the user's id, or undefined if no one has signed in with this identity */
export async function findIdentity(
  db: Connection,
  issuer: string,
  subject: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('oidc_identity')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id;
}

/** Links an identity with a user, or records that it was used again. */
export async function storeIdentity(
  tx: Connection,
  identity: {
    readonly issuer: string;
    readonly subject: string;
    readonly userId: string;
    readonly at: Date;
  },
): Promise<void> {
  const { issuer, subject, userId, at } = identity;
  await tx
    .insertInto('oidc_identity')
    .values({ issuer, subject, user_id: userId, created_at: at, last_sign_in_at: at })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doUpdateSet({ last_sign_in_at: at }))
    .execute();
}

export async function hasIdentity(db: Connection, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('oidc_identity')
    .select('user_id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteIdentitiesOf(tx: Connection, userId: string): Promise<void> {
  await tx.deleteFrom('oidc_identity').where('user_id', '=', userId).execute();
}

/** Whether a person has signed in through a provider. */
export async function isAnyIdentity(db: Connection): Promise<boolean> {
  return (await db.selectFrom('oidc_identity').select('user_id').limit(1).executeTakeFirst()) !== undefined;
}
