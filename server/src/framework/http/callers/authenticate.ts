/**
 * Identifies the sender of a request: API key id and secret, or the session of a person, checked in constant
 * time. An unknown id is a 401, always.
 */
import type { FastifyRequest } from 'fastify';
import { LruMap } from 'toad-cache';
import { Refusal } from '../../../ground/errors.ts';
import { type FoundKey, findApiKey, findKeyStamp, storeLastUse } from '../../../rows/users/user-store.ts';
import type { Actor } from '../../access/actor.ts';
import { accessOf } from '../../access/load-access.ts';
import type { Context } from '../../context.ts';
import { perServer } from '../../events/per-server.ts';
import { type Credentials, readCredentials, sessionOfUserName } from './credentials.ts';
import { type FoundSession, identifyByCookie, identifySession } from './identify-session.ts';
import { isInside } from './networks.ts';
import { CredentialsRefused, refusedCallers } from './refused-callers.ts';

const message =
  'These credentials are not valid: send an API key id and its secret as HTTP Basic credentials, or sign in';

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
  // Pages ask who is signed in: without credentials, nothing was guessed.
  if (!credentials && request.headers.authorization === undefined && request.headers.cookie === undefined)
    throw new Refusal('unauthorized', message);
  if (!credentials) throw new CredentialsRefused(message, null);
  const sessionId = sessionOfUserName(credentials.id);
  if (sessionId !== null) {
    const sessionSecret = { id: sessionId, secret: credentials.secret };
    return actorOf(context, await identifySession(context, request, 'cli', sessionSecret));
  }
  return identifyKey(context, request, credentials);
}

async function actorOf(context: Context, { id, userId, caller }: FoundSession): Promise<Actor> {
  const { name, email, accessVersions } = caller;
  const access = await accessOf(context, userId, accessVersions);
  return { userId, name, email, keyId: null, sessionId: id, access };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `own`: the route has a hook of its own that identifies the caller; `open`: everybody is admitted.
     * Absent: any valid API key is.
     */
    readonly admission?: 'own' | 'open';
  }
}

/** The configuration of a route that identifies its callers itself, in an `onRequest` hook. */
export const ownAdmission = { admission: 'own' } as const;

/** The configuration of a route that needs no credentials. */
export const openAdmission = { admission: 'open' } as const;

/** Interval between records of the last use of a secret, in milliseconds. */
const lastUseEvery = 60_000;

interface KeptKey {
  readonly stamp: string;
  readonly key: FoundKey;
}

const keptOf = perServer(() => new LruMap<KeptKey>(10_000));

/**
 * A key, and the versions of what its user may do, which are not newer than the key. One statement says whether the
 * key, its user or what that user may do have changed since they were read; if not, they are in memory.
 */
async function findKey(
  context: Context,
  id: string,
): Promise<{ key: FoundKey; accessVersions: string } | undefined> {
  const found = await findKeyStamp(context.shared, id);
  if (!found) return undefined;
  const { stamp, accessVersions } = found;
  const kept = keptOf(context).get(id);
  if (kept?.stamp === stamp) return { key: kept.key, accessVersions };
  const key = await findApiKey(context.db, id);
  if (!key) return undefined;
  keptOf(context).set(id, { stamp, key });
  return { key, accessVersions };
}

interface FoundSecret {
  readonly id: string;
  readonly usedAt: Date | null;
}

/** Compares both secrets, for an unknown id too, so that the time says nothing about either. */
function matching({ keyHash }: Context, secret: string, key: FoundKey | undefined): FoundSecret | null {
  const isFirst = keyHash.matches(secret, key?.secret_hmac ?? null);
  const isSecond = keyHash.matches(secret, key?.second_secret_hmac ?? null);
  if (!key) return null;
  if (isFirst) return { id: key.secret_id, usedAt: key.secret_used_at };
  if (!isSecond || key.second_secret_id === null) return null;
  return { id: key.second_secret_id, usedAt: key.second_secret_used_at };
}

/** Only a caller who sent the right secret learns why the key is not accepted. @throws CredentialsRefused */
function checkLimits({ expires_at, networks }: FoundKey, id: string, now: Date, ip: string): void {
  if (expires_at !== null && expires_at <= now)
    throw new CredentialsRefused(`This API key expired at ${expires_at.toISOString()}`, id, 'expired');
  if (networks.length > 0 && !isInside(networks, ip))
    throw new CredentialsRefused(
      `This API key is not accepted from your address, ${ip}: it is limited to certain networks`,
      id,
      'foreign network',
    );
}

/** @throws CredentialsRefused (401): only a caller who sent the right secret learns about expiry and networks */
async function identifyKey(
  context: Context,
  request: FastifyRequest,
  credentials: Credentials,
): Promise<Actor> {
  const found = await findKey(context, credentials.id);
  const secret = matching(context, credentials.secret, found?.key);
  if (!found || !secret) throw new CredentialsRefused(message, found ? credentials.id : null);
  const { key, accessVersions } = found;
  const now = context.now();
  checkLimits(key, credentials.id, now, request.ip);
  if (!secret.usedAt || now.getTime() - secret.usedAt.getTime() > lastUseEvery)
    await storeLastUse(context.db, credentials.id, secret.id, now);
  return {
    userId: key.user_id,
    name: key.name,
    email: key.email,
    keyId: credentials.id,
    sessionId: null,
    access: await accessOf(context, key.user_id, accessVersions),
  };
}
