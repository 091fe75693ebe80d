/** SQL of the members of organizations, several at a time. */
import type { Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';

/** Those who came last first. */
export const listMemberRows = rowsWhere(
  'organization_member',
  'organization_id',
  'created_at desc',
  'user_id desc',
);

/** Members among some users, including invited ones. */
export async function membersAmong(
  db: Connection,
  organizationId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('organization_member')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', [...userIds])
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** Holders of a role in the organization: ids, oldest membership first. */
export async function membersWithRole(
  db: Connection,
  organizationId: string,
  role: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_member')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', role)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Active members with the role Admin, blocked ones included: ids. */
export async function activeAdminIds(db: Connection, organizationId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('organization_member')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'Admin')
    .where('status', '=', 'Active')
    .execute();
  return rows.map((row) => row.user_id);
}
