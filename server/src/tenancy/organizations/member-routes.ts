/** Operations on the members of an organization. */
import { operations } from '#contract/operations.ts';
import type { Member } from '#contract/organizations/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { notFound } from '../../ground/errors.ts';
import { listMemberRows } from '../../rows/organizations/member-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { setMemberRole } from './change-member.ts';

interface MemberFilter {
  readonly query?: string;
  readonly includeApiKeys?: boolean;
}

async function listMembers(
  db: Connection,
  organizationId: string,
  { query = '', includeApiKeys = true }: MemberFilter,
): Promise<Member[]> {
  const rows = await listMemberRows(db, organizationId);
  const users = await getUsers(
    db,
    rows.map((row) => row.user_id),
  );
  const wanted = query.toLowerCase();
  return rows
    .filter(({ user_id: id }) => includeApiKeys || users.get(id)?.is_api_key !== true)
    .map((row) => ({ user: userOf(users, row.user_id), role: row.role, status: row.status }))
    .filter(({ user: { name = '', email = '' } }) =>
      [name, email].some((text) => text.toLowerCase().includes(wanted)),
    );
}

export const memberRoutes: Route[] = [
  route(operations.listMembers, (context, { params, query }) => listMembers(context.db, params.id, query)),
  route(operations.setMemberRole, async (context, { params, body }) => {
    const { id, userId } = params;
    const asked = { role: body, field: 'body' };
    await setMemberRole(context, id, userId, asked, notFound('member', userId));
    return null;
  }),
];
