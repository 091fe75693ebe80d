/** The operator lets a person in by a one-time link, without a password. */
import type { FastifyRequest } from 'fastify';
import type { SignInLink } from '#contract/people/shapes.ts';
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict, notFound } from '../http/errors.ts';
import { CredentialsRefused, refusedCallers } from '../http/refused-callers.ts';
import type { Wire } from '../http/route.ts';
import { baseUrlOf } from '../http/sessions/cookie.ts';
import { newKeySecret } from '../secrets/api-key-hash.ts';
import { startBrowserSession } from '../sign-in/start-session.ts';
import { lockPerson } from '../users/person-store.ts';
import { isOperator } from '../users/user-store.ts';
import { deleteSignInLink, lockSignInLink, putSignInLink } from './sign-in-link-store.ts';

const validMinutes = 15;

/**
 * As with links for passwords, an administrator of one organization must not be able to take over an account that
 * belongs to others, too.
 * @throws Refusal 404 for anybody but the operator, 409 for what is not a person
 */
export async function createSignInLink(
  context: ActorContext,
  request: FastifyRequest,
  userId: string,
): Promise<SignInLink> {
  if (!(await isOperator(context.db, context.actor.userId))) throw notFound('user', userId);
  const secret = newKeySecret();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + validMinutes * 60_000);
  return inTransaction(context, async (context) => {
    const person = await lockPerson(context.db, userId);
    if (!person) throw notFound('user', userId);
    if (person.is_api_key || person.email === '')
      throw conflict('This user is not a person: it uses its API key');
    await putSignInLink(context.db, {
      user_id: userId,
      secret_hmac: context.keyHash.hash(secret),
      created_by: context.actor.userId,
      created_at: createdAt,
      expires_at: expiresAt,
    });
    await recordAudit(context, {
      organizationId: null,
      action: 'signInLink.created',
      entity: 'user',
      entityId: userId,
    });
    const link = `${baseUrlOf(context.settings, request)}/sign-in#link=${userId}.${secret}`;
    return { userId, link, expiresAt: expiresAt.toISOString() };
  });
}

/** Uses the link up. Where it is not valid, the same work is done. @throws CredentialsRefused (401) */
async function useLink(context: ActorContext, token: string): Promise<string> {
  const [userId = '', secret = ''] = token.split('.');
  return inTransaction(context, async (context) => {
    const row = await lockSignInLink(context.db, userId);
    const isRight = context.keyHash.matches(secret, row?.secret_hmac ?? null);
    if (!row || !isRight || row.expires_at <= context.now())
      throw new CredentialsRefused(
        'This link was used, has expired or was replaced: sign in with your password, or ask the operator for another link',
        null,
      );
    await deleteSignInLink(context.db, userId);
    return userId;
  });
}

/** @throws CredentialsRefused (401), TooManyRequests (429), Refusal 403 where the account cannot sign in */
export async function signInByLink(context: ActorContext, wire: Wire, token: string): Promise<SignedIn> {
  const userId = await refusedCallers(context).check(wire.request, () => useLink(context, token));
  return startBrowserSession(context, wire, userId, 'link');
}
