/** Identity providers provision people and teams (SCIM 2.0). */
import type { Family } from '../../framework/family.ts';
import { scimRoutes } from './scim-protocol.ts';
import { scimTokenRoutes } from './scim-token-routes.ts';

export const family: Family = {
  name: 'scim',
  routes: scimTokenRoutes,
  plugin: scimRoutes,
  tables: ['scim_token', 'scim_user', 'scim_group'],
};
