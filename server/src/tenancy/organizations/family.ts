/** Organizations, their members and their policies. */
import type { Family } from '../../framework/family.ts';
import { lockOrganizationRow, organizationHome } from '../../rows/organizations/organization-store.ts';
import { memberRoutes } from './member-routes.ts';
import { organizationRoutes } from './organization-routes.ts';

export const family: Family = {
  name: 'organizations',
  routes: [...organizationRoutes, ...memberRoutes],
  entities: { organization: organizationHome },
  locks: { organization: lockOrganizationRow },
  tables: ['organization', 'organization_member'],
};
