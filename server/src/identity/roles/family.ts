/** Custom roles, and the roles that users and teams are assigned. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { teamAssignmentHome } from '../../rows/roles/assignment-store.ts';
import { getRoleRow, listRoleRows, roleHome } from '../../rows/roles/role-store.ts';
import { assignmentRoutes } from './assignment-routes.ts';
import { createRole, deleteRole, lockRole, roleView, updateRole } from './change-role.ts';
import { explainRoutes } from './explain-permissions.ts';
import { permissionRoutes } from './permission-routes.ts';
import { teamAssignmentRoutes } from './team-assignment-routes.ts';

const roleRoutes: Route[] = [
  route(operations.listRoles, async (context, { query }) =>
    (await listRoleRows(context.db, query.organizationId)).map(roleView),
  ),
  route(operations.createRole, (context, { body }) => createRole(context, body)),
  route(operations.getRole, async (context, { params }) =>
    roleView(orNotFound(await getRoleRow(context.db, params.id), 'role', params.id)),
  ),
  route(operations.updateRole, (context, { params, body }) => updateRole(context, params.id, body)),
  route(operations.deleteRole, (context, { params }) => deleteRole(context, params.id)),
];

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
