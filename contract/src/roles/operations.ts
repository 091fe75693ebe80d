/** Custom roles. */
import { type Static, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { rights } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, Name, Text, Title } from '../schema/schema.ts';
import { Role } from './shapes.ts';

/** Checked by the server, whose message names the unknown one. */
const Permissions = Type.Array(Type.String({ maxLength: 100 }), {
  maxItems: rights.length,
  description: `Rights, in any order, which is kept: ${rights.join(', ')}`,
});

export const CreateRoleBody = closed({
  organizationId: Name,
  name: Title,
  permissions: Permissions,
  isDefaultRole: Type.Optional(Flag),
});
export type CreateRoleBody = Static<typeof CreateRoleBody>;

export const UpdateRoleBody = closed({
  name: Type.Optional(Title),
  permissions: Type.Optional(Permissions),
  isDefaultRole: Type.Optional(
    clearable(Type.Boolean({ description: 'true: the role that was the default one no longer is' }), false),
  ),
});
export type UpdateRoleBody = Static<typeof UpdateRoleBody>;

const thisRole = aboutOne('role');

export const operations = defineOperations('roles', {
  listRoles: operation('GET', '/roles', {
    summary: 'List custom roles',
    needs: 'VIEW_ORGANIZATION',
    ...inOrganization,
    reply: Type.Array(Role),
  }),
  createRole: operation('POST', '/roles', {
    summary: 'Create custom role',
    description: 'The caller needs all of its rights in the organization as well.',
    needs: 'CREATE_CUSTOM_ROLES',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: CreateRoleBody,
    reply: Role,
  }),
  getRole: operation('GET', '/roles/{id}', {
    summary: 'Get custom role',
    needs: 'VIEW_ORGANIZATION',
    ...thisRole,
    reply: Role,
  }),
  updateRole: operation('PUT', '/roles/{id}', {
    summary: 'Update custom role',
    description:
      'Omitted fields are unchanged. The change holds at once for everybody who has the role. The caller needs ' +
      'all rights that the role had and will have.',
    needs: 'CREATE_CUSTOM_ROLES',
    ...thisRole,
    body: UpdateRoleBody,
    reply: Role,
  }),
  deleteRole: operation('DELETE', '/roles/{id}', {
    summary: 'Delete custom role',
    description: 'Refused with 409 as long as anybody has it; the message says who.',
    needs: 'CREATE_CUSTOM_ROLES',
    ...thisRole,
    reply: Type.Object({ id: Text }),
  }),
});
