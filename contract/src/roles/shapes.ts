/** Shapes of replies about roles and their assignments. */
import { type Static, Type } from 'typebox';
import { builtInRoles, type RoleScope } from '../schema/built-in-roles.ts';
import { oneOf, rights } from '../schema/enumerations.ts';
import { Flag, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const Role = replyObject('Role', {
  id: Text,
  organizationId: Text,
  name: Text,
  permissions: Type.Array(oneOf(rights)),
  isDefaultRole: Type.Boolean({ description: 'What new members are when no one says otherwise' }),
});
export type Role = Static<typeof Role>;

const roleText = Type.String({ description: 'The name of a built-in role, or the id of a custom one' });

export const RoleAssignment = replyObject('RoleAssignment', {
  organizationId: Text,
  isProjectArchived: Flag,
  userId: Text,
  role: roleText,
  id: Type.Optional(Text),
  projectId: Type.Optional(Text),
  environmentId: Type.Optional(Text),
  teamId: Type.Optional(Type.String({ description: 'The team that gives the role to the user' })),
  user: Type.Optional(User),
});
export type RoleAssignment = Static<typeof RoleAssignment>;

export const TeamRoleAssignment = replyObject('TeamRoleAssignment', {
  id: Text,
  teamId: Text,
  role: roleText,
  organizationId: Text,
  projectId: Type.Optional(Text),
  environmentId: Type.Optional(Text),
});
export type TeamRoleAssignment = Static<typeof TeamRoleAssignment>;

/** The same in the older operations on teams. */
export const TeamAssignment = replyObject('TeamAssignment', {
  id: Text,
  teamId: Text,
  projectRole: roleText,
  projectId: Type.Optional(Text),
  organizationId: Type.Optional(Text),
});
export type TeamAssignment = Static<typeof TeamAssignment>;

const roleScopes = Object.keys(builtInRoles) as RoleScope[];

export const HeldRole = replyObject('HeldRole', {
  role: roleText,
  roleName: Type.String({ description: 'For people: the name of a custom role, too' }),
  scope: oneOf(roleScopes, 'What the role was assigned in'),
  scopeId: Type.String({ description: 'Id of the organization, project or environment' }),
  scopeName: Type.String({ description: 'Name of the same' }),
  teamId: Type.Optional(Type.String({ description: 'The team that gives the role to the user' })),
  teamName: Type.Optional(Type.String({ description: 'Name of the team' })),
});
export type HeldRole = Static<typeof HeldRole>;

export const EffectivePermissions = replyObject('EffectivePermissions', {
  userId: Text,
  organizationId: Text,
  projectId: Type.Optional(Text),
  environmentId: Type.Optional(Text),
  roles: Type.Array(HeldRole, {
    description: 'All roles that reach the place: in the organization first, then from the top project down',
  }),
  rights: Type.Array(
    Type.Object({
      right: oneOf(rights, 'Held in the place'),
      from: Type.Array(HeldRole, { description: 'Each role that gives the right there' }),
    }),
    { description: 'What the user may do there; rights that nothing gives are left out' },
  ),
});
export type EffectivePermissions = Static<typeof EffectivePermissions>;
