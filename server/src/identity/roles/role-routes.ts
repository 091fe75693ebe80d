/** Operations on custom roles. */
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { getRoleRow, listRoleRows } from '../../rows/roles/role-store.ts';
import { createRole, deleteRole, roleView, updateRole } from './change-role.ts';

export const roleRoutes: Route[] = [
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
