/** An organization never loses its last administrator. */
import type { ActorContext } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import { activeAdminIds } from '../../rows/organizations/member-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';

/**
 * To be called in the transaction in which a user stops being an administrator: by another role, removal, blocking
 * or deletion. Two such changes at once follow one another. Administrators are active members with the role Admin
 * who are not blocked. A person must remain if the user is one: a key may remain alone only where no person is an
 * administrator.
 * @throws Refusal 409 where the user is the last administrator
 */
export async function requireOtherAdmin(
  { db }: Pick<ActorContext, 'db'>,
  organizationId: string,
  userId: string,
): Promise<void> {
  const organization = await lockOrganizationRow(db, organizationId);
  const users = await getUsers(db, await activeAdminIds(db, organizationId));
  const admins = [...users.values()].filter((user) => !user.is_blocked);
  const leaving = admins.find((user) => user.id === userId);
  if (!leaving) return;
  const remains = admins.some((user) => user !== leaving && (leaving.is_api_key || !user.is_api_key));
  if (!remains)
    throw conflict(
      `This is the last administrator of the organization "${organization?.name ?? organizationId}": make another person one first`,
    );
}
