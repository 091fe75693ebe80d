/** Who sends a request: API key id and secret, checked in constant time. An unknown id is a 401, always. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.ts';
import type { Context } from '../context.ts';
import { Refusal } from './errors.ts';
import { readCredentials } from './credentials.ts';

const message =
  'These credentials are not valid: send an API key id and its secret as HTTP Basic credentials';

/** How often a key's last use is written down, in milliseconds. */
const lastUseEvery = 60_000;

async function loadKey(context: Context, id: string) {
  return context.db
    .selectFrom('api_key')
    .innerJoin('app_user', 'app_user.id', 'api_key.user_id')
    .select([
      'api_key.secret_hmac',
      'api_key.last_used_at',
      'app_user.id as user_id',
      'app_user.name',
      'app_user.email',
    ])
    .where('api_key.id', '=', id)
    .executeTakeFirst();
}

async function loadRoles(context: Context, userId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await context.db
    .selectFrom('organization_member')
    .select(['organization_id', 'role'])
    .where('user_id', '=', userId)
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row.role]));
}

/** @throws Refusal 401 where the request carries no valid credentials */
export async function authenticate(context: Context, request: FastifyRequest): Promise<Actor> {
  const credentials = readCredentials(request.headers.authorization);
  if (!credentials) throw new Refusal('unauthorized', message);
  const key = await loadKey(context, credentials.id);
  // The comparison also runs for an unknown id, so that time does not tell which ids exist.
  const isRight = context.keyHash.matches(credentials.secret, key?.secret_hmac ?? null);
  if (!key || !isRight) throw new Refusal('unauthorized', message);
  const now = context.now();
  if (!key.last_used_at || now.getTime() - key.last_used_at.getTime() > lastUseEvery) {
    await context.db
      .updateTable('api_key')
      .set({ last_used_at: now })
      .where('id', '=', credentials.id)
      .execute();
  }
  return {
    userId: key.user_id,
    name: key.name,
    email: key.email,
    roles: await loadRoles(context, key.user_id),
  };
}
