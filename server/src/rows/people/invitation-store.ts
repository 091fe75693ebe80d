/** SQL of invitations. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { homeOf, lockById, rowById, updateById } from '../row-queries.ts';
import type { InvitationTable } from '../schema.ts';

export type InvitationRow = Selectable<InvitationTable>;

/** @returns the row, or undefined where the user has an open invitation to the organization already */
export async function insertInvitation(
  tx: Connection,
  row: Insertable<InvitationTable>,
): Promise<InvitationRow | undefined> {
  return tx
    .insertInto('invitation')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const getInvitation = rowById('invitation');

/** The same, locked until the transaction ends. */
export const lockInvitation = lockById('invitation');

/** Newest first, without those that were revoked. */
export async function listInvitationRows(db: Connection, organizationId: string): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitation')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Invitations of a user that were neither accepted nor revoked. */
export async function openInvitationsOf(db: Connection, userId: string): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitation')
    .selectAll()
    .where('user_id', '=', userId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute();
}

export const updateInvitation = updateById('invitation');

/** Revokes the open invitations of a user. @param organizationId absent: those to all organizations */
export async function revokeInvitationsOf(
  tx: Connection,
  userId: string,
  at: Date,
  organizationId?: string,
): Promise<void> {
  await tx
    .updateTable('invitation')
    .set({ revoked_at: at })
    .where('user_id', '=', userId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .execute();
}

/** Home of an invitation. */
export const invitationHome = homeOf('invitation');
