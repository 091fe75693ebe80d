/** Shapes of replies about invitations. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { closed, Instant, Name, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

/** The roles that a person gets, in an organization and in its projects. */
export const GrantedPermissions = Type.Object(
  {
    organizationRole: Type.String({
      minLength: 1,
      description: 'Role in the organization: Admin, User or the id of a custom role',
    }),
    projectsPermissions: Type.Optional(
      Type.Array(
        closed({
          projectId: Name,
          projectRole: Type.String({
            minLength: 1,
            description: 'Role in the project: Admin, Deployer, Planner, Viewer or the id of a custom role',
          }),
        }),
        { maxItems: 1000, description: 'Roles in projects and what is below them' },
      ),
    ),
  },
  {
    additionalProperties: false,
    title: 'GrantedPermissions',
    description: 'Roles that the person gets; default: the default role of the organization, or User',
  },
);
export type GrantedPermissions = Static<typeof GrantedPermissions>;

export const invitationStatuses = ['Pending', 'Accepted', 'Expired'] as const;

const link = Type.String({
  description: 'The one-time link for the invited person, shown only now; its last part is the token',
});

export const Invitation = replyObject('Invitation', {
  id: Text,
  organizationId: Text,
  email: Text,
  userId: Type.String({ description: 'Id of the invited user' }),
  permissions: Type.Unsafe<GrantedPermissions>({
    type: 'object',
    description: 'The roles that the person gets',
    additionalProperties: true,
  }),
  status: oneOf(invitationStatuses, 'Whether it was accepted, and whether it still can be'),
  createdAt: Instant,
  expiresAt: Type.String({ format: 'date-time', description: 'When it can no longer be accepted' }),
  createdBy: Text,
  createdByUser: User,
  link: Type.Optional(link),
});
export type Invitation = Static<typeof Invitation>;

export const InvitationPreview = replyObject('InvitationPreview', {
  email: Text,
  organizationName: Type.String({ description: 'Name of the organization' }),
  expiresAt: Type.String({ format: 'date-time', description: 'When it can no longer be accepted' }),
  hasAccount: Type.Boolean({
    description: 'Whether the person can sign in already, and joins instead of setting a password',
  }),
});
export type InvitationPreview = Static<typeof InvitationPreview>;

export const CreatedAdmin = replyObject('CreatedAdmin', {
  userId: Text,
  organizationId: Text,
  invitation: Type.Optional(Invitation),
});
export type CreatedAdmin = Static<typeof CreatedAdmin>;

export const PasswordReset = replyObject('PasswordReset', {
  userId: Text,
  link: Type.String({ description: 'Shown only here' }),
  expiresAt: Type.String({ format: 'date-time', description: 'When it is no longer accepted' }),
});
export type PasswordReset = Static<typeof PasswordReset>;

export const SignInLink = replyObject('SignInLink', {
  userId: Text,
  link: Type.String({ description: 'Shown only here' }),
  expiresAt: Type.String({ format: 'date-time', description: 'When it is no longer accepted' }),
});
export type SignInLink = Static<typeof SignInLink>;
