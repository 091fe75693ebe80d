/** People in organizations: invitations, removal, and the end of an account. */
import { Type } from 'typebox';
import { aboutOne, byId, inOrganization } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, Text, Title } from '../schema/schema.ts';
import { Email, Password } from '../sign-in/operations.ts';
import { SignedIn } from '../sign-in/shapes.ts';
import {
  CreatedAdmin,
  GrantedPermissions,
  Invitation,
  InvitationPreview,
  PasswordReset,
  SignInLink,
} from './shapes.ts';

const thisInvitation = aboutOne('invitation');
const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The last part of the link of an invitation',
});

export const operations = defineOperations('people', {
  createInvitation: operation('POST', '/invites', {
    summary: 'Invite person',
    description:
      'The person becomes a member of status Invited. The reply has a one-time link to pass on, with which the ' +
      'person sets name and password; a sign-in through an identity provider with the same verified e-mail accepts ' +
      'the invitation, too. No one can grant roles with rights that they do not have themselves.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({
      email: Email,
      organizationId: Name,
      permissions: Type.Optional(nullable(GrantedPermissions)),
    }),
    reply: Invitation,
  }),
  listInvitations: operation('GET', '/invites', {
    summary: 'List invitations',
    description: 'Without those that were revoked; newest first.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...inOrganization,
    reply: Type.Array(Invitation),
  }),
  resendInvitation: operation('POST', '/invites/{id}/resend', {
    summary: 'Renew invitation',
    description: 'Replaces the link, which is returned, and lets the invitation expire later.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    refusesWith: ['gone'],
    ...thisInvitation,
    reply: Invitation,
  }),
  deleteInvitation: operation('DELETE', '/invites/{id}', {
    summary: 'Revoke invitation',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    refusesWith: ['gone'],
    ...thisInvitation,
    reply: nullable(Type.Object({ id: Text })),
  }),
  previewInvitation: operation('POST', '/invites/preview', {
    summary: 'Show invitation to its recipient',
    description: 'Expired and used invitations are a 410.',
    needs: 'nothing',
    refusesWith: ['not_found', 'gone'],
    body: closed({ token: Token }),
    reply: InvitationPreview,
  }),
  acceptInvitation: operation('POST', '/invites/accept', {
    summary: 'Accept invitation with a new account',
    description:
      'Sets name and password of the account, and signs in. Expired and used invitations are a 410; a person ' +
      'who has an account signs in and joins.',
    needs: 'nothing',
    refusesWith: ['not_found', 'gone'],
    body: closed({ token: Token, name: Title, password: Password }),
    reply: SignedIn,
  }),
  joinOrganization: operation('POST', '/invites/join', {
    summary: 'Accept invitation with an existing account',
    description: 'The caller must be the invited person. Expired and used invitations are a 410.',
    needs: 'signed-in',
    refusesWith: ['not_found', 'gone'],
    body: closed({ token: Token }),
    reply: Type.Object({ organizationId: Text }),
  }),
  createAdmin: operation('POST', '/users/admins', {
    summary: 'Create administrator',
    description:
      'For the operator, with the first key of the installation: makes a person an administrator of an ' +
      'organization (default: the oldest one of the key). With a password the account is ready; otherwise the reply ' +
      'has an invitation with a one-time link.',
    needs: 'signed-in',
    body: closed({
      email: Email,
      name: Type.Optional(Title),
      password: Type.Optional(Type.String({ ...Password, minLength: 1 })),
      organizationId: Type.Optional(Name),
    }),
    reply: CreatedAdmin,
  }),
  createPasswordReset: operation('POST', '/users/{id}/password-reset', {
    summary: 'Create link for a new password',
    description:
      'For the operator, with the first key of the installation: a one-time link, valid for a day, with which a ' +
      'person sets another password. A new link replaces the one before.',
    needs: 'signed-in',
    params: byId,
    reply: PasswordReset,
  }),
  resetPassword: operation('POST', '/auth/password-reset', {
    summary: 'Set new password by a link',
    description:
      'Ends all sessions of the account, and signs in. Expired, used and replaced links are a 410.',
    needs: 'nothing',
    refusesWith: ['forbidden', 'gone'],
    body: closed({
      token: Type.String({ minLength: 1, maxLength: 200, description: 'The last part of the link' }),
      password: Password,
    }),
    reply: SignedIn,
  }),
  createSignInLink: operation('POST', '/users/{id}/sign-in-link', {
    summary: 'Create link to sign in',
    description:
      'For the operator, with the first key of the installation: a one-time link, valid for 15 minutes, that opens ' +
      'the web interface as that person. A new link replaces the one before.',
    needs: 'signed-in',
    params: byId,
    reply: SignInLink,
  }),
  signInByLink: operation('POST', '/auth/sign-in-link', {
    summary: 'Sign in by a link',
    description:
      'Starts a session, whose cookie the reply sets. An expired, used or replaced link is a 401, and counts as ' +
      'refused credentials of the address that it came from.',
    needs: 'nothing',
    refusesWith: ['unauthorized'],
    body: closed({
      token: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'The part of the link after `#link=`',
      }),
    }),
    reply: SignedIn,
  }),
  removeMember: operation('DELETE', '/organizations/{id}/users/{userId}', {
    summary: 'Remove user from organization',
    description:
      'With all roles and teams there. The caller needs all rights of the role that the user has in the ' +
      'organization. The last administrator cannot be removed (409). What the user did remains in the audit trail.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    subject: { entity: 'organization', in: 'params', field: 'id' },
    params: Type.Object({ id: Name, userId: Name }),
    reply: nullable(Type.Object({ id: Text })),
  }),
  deleteCurrentUser: operation('DELETE', '/users/me', {
    summary: 'Delete own account',
    description:
      'Sessions and keys of the account end at once; what it did remains in the audit trail under a pseudonym. ' +
      'The last administrator of an organization cannot do so (409).',
    needs: 'signed-in',
    refusesWith: ['not_found'],
    reply: nullable(Type.Object({ id: Text })),
  }),
  deleteUser: operation('DELETE', '/users/{id}', {
    summary: 'Delete account',
    description:
      'For the operator, with the first key of the installation; otherwise as for the own account.',
    needs: 'signed-in',
    params: byId,
    reply: nullable(Type.Object({ id: Text })),
  }),
});
