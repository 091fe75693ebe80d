/** An organization never loses its last administrator. */
import type { ActorContext } from '../context.ts';
import { conflict } from '../http/errors.ts';
import { getMembership, hasOtherAdmin } from './membership-store.ts';
import { lockOrganizationRow } from './organization-store.ts';

/**
 * To be called in the transaction that takes the role from a member. Two such changes at once follow one
 * another.
 * @throws Refusal 409 where the user is the last administrator
 */
export async function requireOtherAdmin(
  { db }: Pick<ActorContext, 'db'>,
  organizationId: string,
  userId: string,
): Promise<void> {
  const organization = await lockOrganizationRow(db, organizationId);
  const membership = await getMembership(db, organizationId, userId);
  if (membership?.role !== 'Admin' || membership.status !== 'Active') return;
  if (!(await hasOtherAdmin(db, organizationId, userId)))
    throw conflict(
      `This is the last administrator of the organization "${organization?.name ?? organizationId}": make somebody else one first`,
    );
}
