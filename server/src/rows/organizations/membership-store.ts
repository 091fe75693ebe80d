/** SQL of single memberships in organizations. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { OrganizationMemberTable } from '../schema.ts';

export type MembershipRow = Selectable<OrganizationMemberTable>;

export async function getMembership(
  db: Connection,
  organizationId: string,
  userId: string,
): Promise<MembershipRow | undefined> {
  return db
    .selectFrom('organization_member')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Of several users, who is a member of one of the organizations. */
export async function membersAmong(
  db: Connection,
  organizationIds: readonly string[],
  userIds: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_member')
    .select('user_id as id')
    .distinct()
    .where('organization_id', '=', sql<string>`any(${organizationIds}::uuid[])`)
    .where('user_id', '=', sql<string>`any(${userIds}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
}

/** A membership, unless the user has one there. @returns whether it was made */
export async function insertMembership(
  tx: Connection,
  row: Pick<MembershipRow, 'organization_id' | 'user_id' | 'role' | 'status' | 'source'>,
): Promise<boolean> {
  const inserted = await tx
    .insertInto('organization_member')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function updateMembership(
  tx: Connection,
  organizationId: string,
  userId: string,
  changes: Partial<Pick<MembershipRow, 'role' | 'status' | 'source'>>,
): Promise<void> {
  await tx
    .updateTable('organization_member')
    .set(changes)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMembership(
  tx: Connection,
  organizationId: string,
  userId: string,
): Promise<void> {
  await tx
    .deleteFrom('organization_member')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

/** The organizations that a user belongs to or is invited to. */
export const listMemberships = rowsWhere('organization_member', 'user_id', 'organization_id');

/** @returns the roles of those users who are active members of an organization */
export async function activeRolesOf(
  db: Connection,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('organization_member')
    .select(['user_id', 'role'])
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'Active')
    .where('user_id', 'in', [...userIds])
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.role]));
}
