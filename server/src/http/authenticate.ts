/**
 * Who sends a request: API key id and secret, or the session of a person, checked in constant time. An unknown
 * id is a 401, always.
 */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.ts';
import { accessOf } from '../access/load-access.ts';
import type { Context } from '../context.ts';
import { findApiKey, storeLastUse } from '../users/user-store.ts';
import { readCredentials } from './credentials.ts';
import { CredentialsRefused, refusedCallers } from './refused-callers.ts';
import { sessionOfUserName } from './sessions/cookie.ts';
import { type FoundSession, identifyByCookie, identifySession } from './sessions/identify-session.ts';

const message =
  'These credentials are not valid: send an API key id and its secret as HTTP Basic credentials, or sign in';

/** How often a key's last use is recorded, in milliseconds. */
const lastUseEvery = 60_000;

/**
 * @throws CredentialsRefused (401) where the request carries no valid credentials, TooManyRequests (429) where
 * its address was refused too often
 */
export function authenticate(context: Context, request: FastifyRequest): Promise<Actor> {
  return refusedCallers(context).check(request, () => identify(context, request));
}

/** The same without counting, for a request that was admitted before. @throws CredentialsRefused */
export async function identify(context: Context, request: FastifyRequest): Promise<Actor> {
  const byCookie = await identifyByCookie(context, request);
  if (byCookie) return actorOf(context, byCookie);
  const credentials = readCredentials(request.headers.authorization);
  if (!credentials) throw new CredentialsRefused(message, null);
  const sessionId = sessionOfUserName(credentials.id);
  if (sessionId !== null) {
    const given = { id: sessionId, secret: credentials.secret };
    return actorOf(context, await identifySession(context, request, 'cli', given));
  }
  const key = await findApiKey(context.db, credentials.id);
  // The comparison also runs for an unknown id, so that time does not tell which ids exist.
  const isRight = context.keyHash.matches(credentials.secret, key?.secret_hmac ?? null);
  if (!key || !isRight) throw new CredentialsRefused(message, key ? credentials.id : null);
  const now = context.now();
  if (!key.last_used_at || now.getTime() - key.last_used_at.getTime() > lastUseEvery)
    await storeLastUse(context.db, credentials.id, now);
  return {
    userId: key.user_id,
    name: key.name,
    email: key.email,
    keyId: credentials.id,
    sessionId: null,
    access: await accessOf(context, key.user_id, key.access_versions),
  };
}

async function actorOf(context: Context, { id, userId, caller }: FoundSession): Promise<Actor> {
  const { name, email, accessVersions } = caller;
  const access = await accessOf(context, userId, accessVersions);
  return { userId, name, email, keyId: null, sessionId: id, access };
}
