/** Identifies the session of a request: a browser sends it as a cookie, a program as credentials. */
import type { FastifyRequest } from 'fastify';
import type { SessionKind, SignInWay } from '#contract/sign-in/shapes.ts';
import { findSession, storeSessionUse } from '../../../rows/sign-in/session-store.ts';
import type { Caller } from '../../../rows/users/user-store.ts';
import type { Context } from '../../context.ts';
import { readSessionCookie, type SessionSecret } from './credentials.ts';
import { requireCsrfToken } from './cross-site.ts';
import { CredentialsRefused } from './refused-callers.ts';

/** The session of an identified request. */
export interface FoundSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: SessionKind;
  readonly way: SignInWay;
  readonly secret: string;
  readonly expiresAt: Date;
  readonly caller: Caller;
}

/** Interval between records of the last use of a session, in milliseconds. */
const lastUseEvery = 60_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** The session that identified the request; null where an API key did. */
    session: FoundSession | null;
  }
}

function isOver(
  { settings, now }: Pick<Context, 'settings' | 'now'>,
  { kind, expires_at, last_used_at }: { kind: SessionKind; expires_at: Date; last_used_at: Date },
): boolean {
  const idleUntil = last_used_at.getTime() + settings.sessionIdleMinutes * 60_000;
  return expires_at <= now() || (kind === 'browser' && idleUntil <= now().getTime());
}

/**
 * @param sessionSecret what the request says about its session
 * @returns the session
 * @throws CredentialsRefused (401) where it does not exist, has ended, or the secret is another one
 */
export async function identifySession(
  context: Context,
  request: FastifyRequest,
  kind: SessionKind,
  sessionSecret: SessionSecret,
): Promise<FoundSession> {
  const row = await findSession(context.shared, sessionSecret.id);
  const isRight = context.keyHash.matches(sessionSecret.secret, row?.secret_hmac ?? null);
  if (!row?.caller || !isRight || row.kind !== kind || isOver(context, row))
    throw new CredentialsRefused('This session has ended: sign in again', null);
  const now = context.now();
  if (now.getTime() - row.last_used_at.getTime() > lastUseEvery)
    await storeSessionUse(context.db, sessionSecret.id, now);
  const { user_id: userId, expires_at: expiresAt, caller, way } = row;
  const session = { ...sessionSecret, userId, kind, way, expiresAt, caller };
  request.session = session;
  return session;
}

/**
 * The session of the cookie that a request carries; null where it has none, or credentials of another kind.
 * @throws CredentialsRefused (401) as `identifySession` does, Refusal 403 for a change without its token
 */
export async function identifyByCookie(
  context: Context,
  request: FastifyRequest,
): Promise<FoundSession | null> {
  if (request.headers.authorization !== undefined) return null;
  const cookie = readSessionCookie(context.settings, request);
  if (!cookie) return null;
  const session = await identifySession(context, request, 'browser', cookie);
  requireCsrfToken(request, cookie.secret);
  return session;
}
