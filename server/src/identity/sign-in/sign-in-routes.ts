/** Operations on sign-in, the current user and its sessions. */
import type { FastifyRequest } from 'fastify';
import { operations } from '#contract/operations.ts';
import type { CurrentUser, Session } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { sessionCookie, setCookie } from '../../framework/http/callers/credentials.ts';
import { csrfTokenOf } from '../../framework/http/callers/cross-site.ts';
import {
  CredentialsRefused,
  countedAddress,
  refusedCallers,
} from '../../framework/http/callers/refused-callers.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { notFound, Refusal } from '../../ground/errors.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { listOrganizationRows } from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import { isAnyIdentity } from '../../rows/sign-in/identity-store.ts';
import { getPasswordHash, hasPassword, isAnyPassword } from '../../rows/sign-in/password-store.ts';
import { deleteSessionRow, listSessionRows, type SessionRow } from '../../rows/sign-in/session-store.ts';
import { findPersonByEmail, updatePerson } from '../../rows/users/person-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { mayCreate } from '../../tenancy/organizations/may-create.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { changePassword } from './change-password.ts';
import { matchesPassword } from './hash-password.ts';
import { beginAttempt } from './slow-down.ts';
import { startBrowserSession, startCliSession } from './start-session.ts';

/**
 * Checks e-mail and password, in the same time and with the same answer whether or not there is an account.
 * @returns the id of the user
 * @throws CredentialsRefused (401), TooManyRequests (429) after several failures, Refusal 403 if no one
 * signs in by password
 */
async function checkSignIn(
  context: ActorContext,
  request: FastifyRequest,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  if (!context.settings.passwordSignIn)
    throw new Refusal(
      'forbidden',
      'This installation has no sign-in by password (ENVARIUM_PASSWORD_SIGN_IN): use its identity provider',
    );
  return refusedCallers(context).check(request, async () => {
    const person = await findPersonByEmail(context.db, email);
    const address = countedAddress(request.ip);
    const succeeded = await beginAttempt(context, { email, userId: person?.id, address });
    // Without an account too, so that the same statements are sent.
    const hash = await getPasswordHash(context.db, context, person?.id ?? '');
    const isRight = await matchesPassword(password, hash);
    if (!person || !isRight)
      throw new CredentialsRefused('E-mail or password is not right', person?.id ?? null);
    await succeeded();
    return person.id;
  });
}

/** The caller, its organizations, and what identified it. */
async function currentUser(context: ActorContext, request: FastifyRequest): Promise<CurrentUser> {
  const { db, actor } = context;
  const users = await getUsers(db, [actor.userId]);
  const rows = await listOrganizationRows(db, actor.access.organizationIds);
  const { session } = request;
  return {
    user: userOf(users, actor.userId),
    organizations: rows.map(({ id, name }) => ({ id, name, role: actor.access.roleIn(inOrganization(id)) })),
    identifiedBy: session ? 'session' : 'key',
    ...(session
      ? {
          session: {
            id: session.id,
            kind: session.kind,
            expiresAt: session.expiresAt.toISOString(),
            csrfToken: csrfTokenOf(session.secret),
          },
        }
      : {}),
    hasPassword: await hasPassword(db, actor.userId),
    mayCreateOrganizations: await mayCreate(context),
  };
}

function view(row: SessionRow, request: FastifyRequest): Session {
  return {
    id: row.id,
    kind: row.kind,
    way: row.way,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    address: row.address,
    userAgent: row.user_agent,
    isCurrent: request.session?.id === row.id,
  };
}

/** @throws Refusal 404 where it is not a session of the caller */
async function endSession(context: ActorContext, id: string): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    if (!isUuid(id) || !(await deleteSessionRow(context.db, context.actor.userId, id)))
      throw notFound('session', id);
    await recordAudit(context, {
      organizationId: null,
      action: 'session.ended',
      entityId: id,
    });
    return { id };
  });
}

export const signInRoutes: Route[] = [
  route(operations.listSignInMethods, async ({ db, settings }) => ({
    password: settings.passwordSignIn,
    providers:
      settings.oidcIssuer === undefined
        ? []
        : [{ id: 'oidc', name: settings.oidcName, path: '/api/auth/oidc/start' }],
    isFirstStart: !(await isAnyPassword(db)) && !(await isAnyIdentity(db)),
  })),
  route(operations.signIn, async (context, { body }, wire) => {
    const userId = await checkSignIn(context, wire.request, body);
    return startBrowserSession(context, wire, userId, 'password');
  }),
  route(operations.signInCli, async (context, { body }, wire) => {
    const userId = await checkSignIn(context, wire.request, body);
    return startCliSession(context, wire, userId, 'password');
  }),
  route(operations.signOut, async (context, _input, wire) => {
    const { session } = wire.request;
    if (!session)
      throw new Refusal(
        'bad_request',
        'This request was identified by an API key, which has no session to end',
      );
    const ended = await endSession(context, session.id);
    if (session.kind === 'browser')
      setCookie(context.settings, wire, { name: sessionCookie, value: '', maxAge: 0 });
    return ended;
  }),
  route(operations.changePassword, async (context, { body }, { request }) => {
    await changePassword(context, request, body);
    return { id: context.actor.userId };
  }),
  route(operations.getCurrentUser, (context, _input, { request }) => currentUser(context, request)),
  route(operations.updateCurrentUser, async (context, { body }, { request }) => {
    const { userId } = context.actor;
    const changes = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.picture === undefined ? {} : { picture: body.picture }),
    };
    await inTransaction(context, async (context) => {
      await updatePerson(context.db, userId, { ...changes, updated_at: context.now() });
      await recordAudit(context, {
        organizationId: null,
        action: 'user.updated',
        entityId: userId,
        // Not the name: entries stay as they are when the person is removed.
        details: { fields: Object.keys(changes) },
      });
    });
    return currentUser(context, request);
  }),
  route(operations.listSessions, async (context, _input, { request }) =>
    (await listSessionRows(context.db, context.actor.userId)).map((row) => view(row, request)),
  ),
  route(operations.deleteSession, (context, { params }) => endSession(context, params.id)),
];
