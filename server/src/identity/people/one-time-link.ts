/** Links that the operator passes on to a person: each opens one thing, once. */
import type { FastifyRequest } from 'fastify';
import type { PasswordReset, SignInLink } from '#contract/people/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { baseUrlOf } from '../../framework/http/callers/base-url.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, notFound, orNotFound } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { type LinkKind, lockLink, putLink } from '../../rows/people/one-time-link-store.ts';
import { lockPerson } from '../../rows/users/person-store.ts';
import { isOperator } from '../../rows/users/user-store.ts';

interface LinkLook {
  readonly validMilliseconds: number;
  /** Of the audit entry. */
  readonly action: string;
  /** Path before the token, below the address of the service. */
  readonly path: string;
  /** Why a user who is not a person gets none. */
  readonly withoutPerson: string;
}

const looks: Readonly<Record<LinkKind, LinkLook>> = {
  password_reset: {
    validMilliseconds: 24 * 3_600_000,
    action: 'password.resetCreated',
    path: 'password#',
    withoutPerson: 'it has no password',
  },
  sign_in_link: {
    validMilliseconds: 15 * 60_000,
    action: 'signInLink.created',
    path: 'sign-in#link=',
    withoutPerson: 'it uses its API key',
  },
};

/**
 * An administrator of one organization must not be able to take over an account that belongs to others, too:
 * only the operator makes such links.
 * @throws Refusal 404 for callers other than the operator, 409 for what is not a person
 */
export async function createLink(
  context: ActorContext,
  request: FastifyRequest,
  kind: LinkKind,
  userId: string,
): Promise<PasswordReset & SignInLink> {
  if (!(await isOperator(context.db, context.actor.userId))) throw notFound('user', userId);
  const { validMilliseconds, action, path, withoutPerson } = looks[kind];
  const secret = newKeySecret();
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + validMilliseconds);
  return inTransaction(context, async (context) => {
    const person = orNotFound(await lockPerson(context.db, userId), 'user', userId);
    if (person.is_api_key || person.email === '')
      throw conflict(`This user is not a person: ${withoutPerson}`);
    await putLink(context.db, kind, {
      user_id: userId,
      secret_hmac: context.keyHash.hash(secret),
      created_by: context.actor.userId,
      created_at: createdAt,
      expires_at: expiresAt,
    });
    await recordAudit(context, { organizationId: null, action, entity: 'user', entityId: userId });
    const link = `${baseUrlOf(context.settings, request)}/${path}${userId}.${secret}`;
    return { userId, link, expiresAt: expiresAt.toISOString() };
  });
}

/** Finds the owner of a link's token, with the same work for an invalid one. @returns undefined if it is not valid */
export async function ownerOfLink(
  context: ActorContext,
  kind: LinkKind,
  token: string,
): Promise<string | undefined> {
  const [userId = '', secret = ''] = token.split('.');
  const row = await lockLink(context.db, kind, userId);
  const isRight = context.keyHash.matches(secret, row?.secret_hmac ?? null);
  return row && isRight && row.expires_at > context.now() ? userId : undefined;
}
