/** A person who has forgotten the password gets a one-time link from the operator. */
import type { FastifyRequest } from 'fastify';
import type { PasswordReset } from '#contract/people/shapes.ts';
import type { SignedIn } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { conflict, notFound, Refusal } from '../http/errors.ts';
import type { Wire } from '../http/route.ts';
import { baseUrlOf } from '../http/sessions/cookie.ts';
import { newKeySecret } from '../secrets/api-key-hash.ts';
import { checkNewPassword } from '../sign-in/check-password.ts';
import { hashPassword } from '../sign-in/hash-password.ts';
import { storePasswordHash } from '../sign-in/password-store.ts';
import { deleteSessionsOf } from '../sign-in/session-store.ts';
import { asPerson, startBrowserSession } from '../sign-in/start-session.ts';
import { getPerson, lockPerson } from '../users/person-store.ts';
import { isOperator } from '../users/user-store.ts';
import { deletePasswordReset, lockPasswordReset, putPasswordReset } from './password-reset-store.ts';
import { deleteSignInLink } from './sign-in-link-store.ts';

const validHours = 24;

/**
 * An administrator of one organization must not be able to take over an account that belongs to others, too:
 * only the operator makes such links.
 * @throws Refusal 404 for anybody but the operator, 409 for what is not a person
 */
export async function createPasswordReset(
  context: ActorContext,
  request: FastifyRequest,
  userId: string,
): Promise<PasswordReset> {
  if (!(await isOperator(context.db, context.actor.userId))) throw notFound('user', userId);
  const secret = newKeySecret();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + validHours * 3_600_000);
  return inTransaction(context, async (context) => {
    const person = await lockPerson(context.db, userId);
    if (!person) throw notFound('user', userId);
    if (person.is_api_key || person.email === '')
      throw conflict('This user is not a person: it has no password');
    await putPasswordReset(context.db, {
      user_id: userId,
      secret_hmac: context.keyHash.hash(secret),
      created_by: context.actor.userId,
      created_at: createdAt,
      expires_at: expiresAt,
    });
    await recordAudit(context, {
      organizationId: null,
      action: 'password.resetCreated',
      entity: 'user',
      entityId: userId,
    });
    const link = `${baseUrlOf(context.settings, request)}/password#${userId}.${secret}`;
    return { userId, link, expiresAt: expiresAt.toISOString() };
  });
}

function invalid(): Refusal {
  return new Refusal(
    'gone',
    'This link was used, has expired or was replaced: ask the operator for another one',
  );
}

/** Where the link is not valid, the same work is done. @throws Refusal 410 */
async function requireLink(context: ActorContext, token: string): Promise<string> {
  const [userId = '', secret = ''] = token.split('.');
  const row = await lockPasswordReset(context.db, userId);
  const isRight = context.keyHash.matches(secret, row?.secret_hmac ?? null);
  if (!row || !isRight || row.expires_at <= context.now()) throw invalid();
  return userId;
}

/**
 * Sets the password, ends all sessions of the account and its link to sign in, and signs in.
 * @throws Refusal 410 for a link that is not valid, 400 for a weak password, 403 where passwords are switched off
 */
export async function resetPassword(
  context: ActorContext,
  wire: Wire,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<SignedIn> {
  if (!context.settings.passwordSignIn)
    throw new Refusal('forbidden', 'This installation has no sign-in by password: use its identity provider');
  const userId = await requireLink(context, token);
  const known = await getPerson(context.db, userId);
  if (!known || known.is_blocked) throw invalid();
  checkNewPassword('body.password', password, known.email);
  const hash = await hashPassword(password);
  await inTransaction(context, async (context) => {
    await requireLink(context, token);
    const person = await lockPerson(context.db, userId);
    if (!person || person.is_blocked) throw invalid();
    await deletePasswordReset(context.db, userId);
    await deleteSignInLink(context.db, userId);
    await storePasswordHash(context.db, context, userId, hash);
    await deleteSessionsOf(context.db, userId);
    await recordAudit(asPerson(context, person), {
      organizationId: null,
      action: 'password.reset',
      entity: 'user',
      entityId: userId,
    });
  });
  return startBrowserSession(context, wire, userId, 'password');
}
