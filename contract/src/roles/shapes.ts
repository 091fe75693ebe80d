/** What replies about roles and their assignments carry. */
import { type Static, Type } from 'typebox';
import { oneOf, rights } from '../schema/enumerations.ts';
import { Flag, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const Role = replyObject('Role', {
  id: Text,
  organizationId: Text,
  name: Text,
  permissions: Type.Array(oneOf(rights)),
  isDefaultRole: Type.Boolean({ description: 'What new members are when nobody says otherwise' }),
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
