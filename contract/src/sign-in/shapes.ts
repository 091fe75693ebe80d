/** Shapes of replies about sign-in and sessions. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

/** Proof that a person presented at sign-in. */
export const signInWays = ['password', 'oidc', 'invitation', 'link'] as const;
export type SignInWay = (typeof signInWays)[number];

/** Carrier of a session: a cookie in browsers, credentials on the command line. */
export const sessionKinds = ['browser', 'cli'] as const;
export type SessionKind = (typeof sessionKinds)[number];

const csrfToken = Type.String({
  description:
    'To be sent as the header `x-csrf-token` with every request of the session other than GET and HEAD',
});

export const SignInMethods = replyObject('SignInMethods', {
  password: Type.Boolean({ description: 'Whether people can sign in with e-mail and password' }),
  providers: Type.Array(
    Type.Object({
      id: Text,
      name: Type.String({ description: 'For the button' }),
      path: Type.String({ description: 'Where the sign-in begins' }),
    }),
    { description: 'Identity providers' },
  ),
  isFirstStart: Type.Boolean({
    description: 'Whether no one has an account yet: the first key of the installation creates one',
  }),
});
export type SignInMethods = Static<typeof SignInMethods>;

export const SignedIn = replyObject('SignedIn', {
  userId: Text,
  sessionId: Type.String({ description: 'Id of the session' }),
  csrfToken,
  expiresAt: Instant,
});
export type SignedIn = Static<typeof SignedIn>;

export const CliSession = replyObject('CliSession', {
  userId: Text,
  apiKeyId: Type.String({ description: 'User name of the HTTP Basic credentials' }),
  apiKeySecret: Type.String({ description: 'Password of the HTTP Basic credentials, shown only now' }),
  expiresAt: Instant,
});
export type CliSession = Static<typeof CliSession>;

export const Session = replyObject('Session', {
  id: Text,
  kind: oneOf(sessionKinds),
  way: oneOf(signInWays, 'What the person proved at sign-in'),
  createdAt: Instant,
  lastUsedAt: Type.String({ format: 'date-time', description: 'Recorded at most once a minute' }),
  expiresAt: Instant,
  address: Type.String({ description: 'Where the sign-in came from' }),
  userAgent: Type.String({ description: 'What the browser or program calls itself' }),
  isCurrent: Type.Boolean({ description: 'Whether this request belongs to it' }),
});
export type Session = Static<typeof Session>;

export const CurrentUser = replyObject('CurrentUser', {
  user: User,
  organizations: Type.Array(Type.Object({ id: Text, name: Text, role: Text }), {
    description: 'Organizations that the caller belongs to, with its role in each',
  }),
  identifiedBy: oneOf(['key', 'session'] as const, 'What identified the caller'),
  session: Type.Optional(
    Type.Object(
      { id: Text, kind: oneOf(sessionKinds), expiresAt: Instant, csrfToken },
      { description: 'The session of this request' },
    ),
  ),
  hasPassword: Type.Boolean({ description: 'Whether the account has a password' }),
  mayCreateOrganizations: Type.Boolean({
    description: 'Whether `ENVARIUM_ORGANIZATION_CREATORS` lets the caller create organizations',
  }),
});
export type CurrentUser = Static<typeof CurrentUser>;
