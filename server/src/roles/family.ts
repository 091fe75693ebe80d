/** Custom roles, and the roles that users and teams are assigned. */
import type { Family } from '../family.ts';

export const family: Family = {
  name: 'roles',
  tables: ['role', 'role_assignment'],
};
