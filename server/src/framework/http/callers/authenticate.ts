/**
 * Who sends a request: API key id and secret, or the session of a person, checked in constant time. An unknown
 * id is a 401, always.
 */
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../../ground/errors.ts';
import type { Actor } from '../../access/actor.ts';
import { accessOf } from '../../access/load-access.ts';
import type { Context } from '../../context.ts';
import { sessionOfUserName } from './cookie.ts';
import { readCredentials } from './credentials.ts';
import { identifyKey } from './identify-key.ts';
import { type FoundSession, identifyByCookie, identifySession } from './identify-session.ts';
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
    const given = { id: sessionId, secret: credentials.secret };
    return actorOf(context, await identifySession(context, request, 'cli', given));
  }
  return identifyKey(context, request, credentials, message);
}

async function actorOf(context: Context, { id, userId, caller }: FoundSession): Promise<Actor> {
  const { name, email, accessVersions } = caller;
  const access = await accessOf(context, userId, accessVersions);
  return { userId, name, email, keyId: null, sessionId: id, access };
}
