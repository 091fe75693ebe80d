/** People: how they sign in, who they are, and their sessions. */
import { Type } from 'typebox';
import { byId } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, nullable, Text, Title } from '../schema/schema.ts';
import { CliSession, CurrentUser, Session, SignedIn, SignInMethods } from './shapes.ts';

/** No longer one is ever hashed; what is too short is refused with its reason where a password is set. */
export const Password = Type.String({ maxLength: 4096, description: 'A password' });
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\p{Cc}]+@[^\\s@\\p{Cc}]+$',
  description: 'An e-mail address',
});

const credentials = { email: Email, password: Password };

export const operations = defineOperations('sign-in', {
  listSignInMethods: operation('GET', '/auth/methods', {
    summary: 'List ways to sign in',
    needs: 'nothing',
    reply: SignInMethods,
  }),
  signIn: operation('POST', '/auth/sign-in', {
    summary: 'Sign in with e-mail and password',
    description:
      'Starts a session, whose cookie the reply sets. After several failures for an account or from an ' +
      'address, further attempts are refused with 429 for a time that grows.',
    needs: 'nothing',
    refusesWith: ['unauthorized'],
    body: closed(credentials),
    reply: SignedIn,
  }),
  signInCli: operation('POST', '/auth/cli/sign-in', {
    summary: 'Sign in with e-mail and password, for programs',
    description: 'Like the sign-in of a browser, but the session is sent as HTTP Basic credentials.',
    needs: 'nothing',
    refusesWith: ['unauthorized'],
    body: closed(credentials),
    reply: CliSession,
  }),
  signOut: operation('POST', '/auth/sign-out', {
    summary: 'Sign out',
    description: 'Ends the session that this request belongs to.',
    needs: 'signed-in',
    reply: nullable(Type.Object({ id: Text })),
  }),
  changePassword: operation('PUT', '/users/me/password', {
    summary: 'Change password',
    description:
      'Ends all other sessions of the account. A password has 12 to 1024 characters, is not the e-mail ' +
      'address, and not one of the most common ones.',
    needs: 'signed-in',
    body: closed({ currentPassword: Password, newPassword: Password }),
    reply: nullable(Type.Object({ id: Text })),
  }),
  getCurrentUser: operation('GET', '/users/me', {
    summary: 'Get current user',
    description: 'Who the caller is, its roles in organizations, and how it was identified.',
    needs: 'signed-in',
    reply: CurrentUser,
  }),
  updateCurrentUser: operation('PUT', '/users/me', {
    summary: 'Update current user',
    needs: 'signed-in',
    body: closed({
      name: Type.Optional(Title),
      picture: Type.Optional(
        clearable(
          nullable(
            Type.String({
              maxLength: 2000,
              pattern: '^https://[^\\s\\p{Cc}]+$',
              description: 'An https:// address, or null',
            }),
          ),
          null,
        ),
      ),
    }),
    reply: CurrentUser,
  }),
  listSessions: operation('GET', '/users/me/sessions', {
    summary: 'List sessions',
    description: 'Sessions of the caller, newest first.',
    needs: 'signed-in',
    reply: Type.Array(Session),
  }),
  deleteSession: operation('DELETE', '/users/me/sessions/{id}', {
    summary: 'End session',
    description: 'Ends a session of the caller, with immediate effect on all servers.',
    needs: 'signed-in',
    params: byId,
    reply: nullable(Type.Object({ id: Text })),
  }),
});
