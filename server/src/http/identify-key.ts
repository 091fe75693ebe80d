/**
 * Who uses an API key: one statement finds the key, its secrets and what its user may do. Both secrets are
 * always compared, and as long for an unknown id, so that time does not tell which ids exist.
 */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.ts';
import { accessOf } from '../access/load-access.ts';
import type { Context } from '../context.ts';
import { findApiKey, type FoundKey, storeLastUse } from '../users/user-store.ts';
import type { Credentials } from './credentials.ts';
import { isInside } from './networks.ts';
import { CredentialsRefused } from './refused-callers.ts';

/** How often the last use of a secret is recorded, in milliseconds. */
const lastUseEvery = 60_000;

interface FoundSecret {
  readonly id: string;
  readonly usedAt: Date | null;
}

function matching({ keyHash }: Context, secret: string, key: FoundKey | undefined): FoundSecret | null {
  const isFirst = keyHash.matches(secret, key?.secret_hmac ?? null);
  const isSecond = keyHash.matches(secret, key?.second_secret_hmac ?? null);
  if (!key) return null;
  if (isFirst) return { id: key.secret_id, usedAt: key.secret_used_at };
  if (!isSecond || key.second_secret_id === null) return null;
  return { id: key.second_secret_id, usedAt: key.second_secret_used_at };
}

/** Only whoever sent the right secret learns why the key is not accepted. @throws CredentialsRefused */
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

/** @throws CredentialsRefused (401), with `message` where the id or the secret is wrong */
export async function identifyKey(
  context: Context,
  request: FastifyRequest,
  credentials: Credentials,
  message: string,
): Promise<Actor> {
  const { db } = context;
  const key = await findApiKey(db, credentials.id);
  const secret = matching(context, credentials.secret, key);
  if (!key || !secret) throw new CredentialsRefused(message, key ? credentials.id : null);
  const now = context.now();
  checkLimits(key, credentials.id, now, request.ip);
  if (!secret.usedAt || now.getTime() - secret.usedAt.getTime() > lastUseEvery)
    await storeLastUse(db, credentials.id, secret.id, now);
  return {
    userId: key.user_id,
    name: key.name,
    email: key.email,
    keyId: credentials.id,
    sessionId: null,
    access: await accessOf(context, key.user_id, key.access_versions),
  };
}
