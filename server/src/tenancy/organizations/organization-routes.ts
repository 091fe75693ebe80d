/** Operations on organizations. */

import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { notFound } from '../../ground/errors.ts';
import { countActiveIn } from '../../rows/environments/environment-store.ts';
import { getOrganizationRow, listOrganizationRows } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { createOrganization } from './create-organization.ts';
import { checkMayCreate } from './may-create.ts';
import { organizationView } from './organization-view.ts';
import { updateOrganization, updatePolicies } from './update-organization.ts';

export const organizationRoutes: Route[] = [
  route(operations.listOrganizations, async (context) => {
    const rows = await listOrganizationRows(context.db, context.actor.access.organizationIds);
    return rows.map((row) => organizationView(row, context.actor.access.roleIn(inOrganization(row.id))));
  }),
  route(operations.createOrganization, async (context, { body }) => {
    await checkMayCreate(context);
    return createOrganization(context, body);
  }),
  route(operations.getOrganization, async (context, { params }) => {
    const row = await getOrganizationRow(context.db, params.id);
    if (!row) throw notFound('organization', params.id);
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
