/** Custom roles, and the roles that users and teams are assigned. */
import type { Family } from '../../framework/family.ts';
import { teamAssignmentHome } from '../../rows/roles/assignment-store.ts';
import { roleHome } from '../../rows/roles/role-store.ts';
import { assignmentRoutes } from './assignment-routes.ts';
import { lockRole } from './change-role.ts';
import { explainRoutes } from './explain-permissions.ts';
import { permissionRoutes } from './permission-routes.ts';
import { roleRoutes } from './role-routes.ts';
import { teamAssignmentRoutes } from './team-assignment-routes.ts';

export const family: Family = {
  name: 'roles',
  routes: [
    ...roleRoutes,
    ...assignmentRoutes,
    ...permissionRoutes,
    ...explainRoutes,
    ...teamAssignmentRoutes,
  ],
  entities: { role: roleHome, teamAssignment: teamAssignmentHome },
  locks: { role: lockRole },
  tables: ['role', 'role_assignment'],
};
