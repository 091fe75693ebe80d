/** Organizations, their members and their policies. */
import { operations } from '#contract/operations.ts';
import type { Member } from '#contract/organizations/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { notFound, orNotFound } from '../../ground/errors.ts';
import { countActiveIn } from '../../rows/environments/environment-store.ts';
import { listMemberRows } from '../../rows/organizations/member-store.ts';
import {
  getOrganizationRow,
  listOrganizationRows,
  lockOrganizationRow,
  organizationHome,
} from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { setMemberRole } from './change-member.ts';
import { createOrganization } from './create-organization.ts';
import { checkMayCreate } from './may-create.ts';
import { organizationView } from './organization-view.ts';
import { updateOrganization, updatePolicies } from './update-organization.ts';

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

const memberRoutes: Route[] = [
  route(operations.listMembers, (context, { params, query }) => listMembers(context.db, params.id, query)),
  route(operations.setMemberRole, async (context, { params, body }) => {
    const { id, userId } = params;
    const requested = { role: body, field: 'body' };
    await setMemberRole(context, id, userId, requested, notFound('member', userId));
    return null;
  }),
];

const organizationRoutes: Route[] = [
  route(operations.listOrganizations, async (context) => {
    const rows = await listOrganizationRows(context.db, context.actor.access.organizationIds);
    return rows.map((row) => organizationView(row, context.actor.access.roleIn(inOrganization(row.id))));
  }),
  route(operations.createOrganization, async (context, { body }) => {
    await checkMayCreate(context);
    return createOrganization(context, body);
  }),
  route(operations.getOrganization, async (context, { params }) => {
    const row = orNotFound(await getOrganizationRow(context.db, params.id), 'organization', params.id);
    return organizationView(row, context.actor.access.roleIn(inOrganization(row.id)));
  }),
  route(operations.getOrganizationLimits, async (context, { params }) => ({
    environments: {
      amount: await countActiveIn(context.db, params.id),
      limitReached: false,
    },
  })),
  route(operations.updateOrganization, (context, { params, body }) =>
    updateOrganization(context, params.id, body),
  ),
  route(operations.updateOrganizationPolicies, (context, { params, body }) =>
    updatePolicies(context, params.id, body),
  ),
];

export const family: Family = {
  name: 'organizations',
  routes: [...organizationRoutes, ...memberRoutes],
  entities: { organization: organizationHome },
  locks: { organization: lockOrganizationRow },
  tables: ['organization', 'organization_member'],
};
