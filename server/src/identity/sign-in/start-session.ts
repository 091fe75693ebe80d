/** Starts the session of a person who has proved who it is. */
import type { FastifyRequest } from 'fastify';
import type { CliSession, SessionKind, SignedIn, SignInWay } from '#contract/sign-in/shapes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { cliUserName, sessionCookie, setCookie } from '../../framework/http/callers/credentials.ts';
import { csrfTokenOf } from '../../framework/http/callers/cross-site.ts';
import type { Wire } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { newKeySecret } from '../../ground/secrets/api-key-hash.ts';
import { insertSession } from '../../rows/sign-in/session-store.ts';
import { lockPerson, updatePerson } from '../../rows/users/person-store.ts';
import type { UserRow } from '../../rows/users/user-store.ts';

const mostAgentLength = 500;
const hour = 3_600_000;

export interface StartedSession {
  readonly id: string;
  readonly secret: string;
  readonly expiresAt: Date;
}

/** The context of what a person does by signing in. */
export function asPerson(context: ActorContext, { id, name, email }: UserRow): ActorContext {
  return { ...context, actor: { ...context.actor, userId: id, name, email } };
}

/**
 * @param proof what the person proved
 * @throws Refusal 403 where the account has been deleted in the meantime
 */
async function startSession(
  context: ActorContext,
  request: Pick<FastifyRequest, 'ip' | 'headers'>,
  userId: string,
  proof: { readonly kind: SessionKind; readonly way: SignInWay },
): Promise<StartedSession> {
  const { settings } = context;
  const now = context.now();
  const hours = proof.kind === 'cli' ? settings.cliSessionDays * 24 : settings.sessionHours;
  const session = {
    id: context.newId(),
    secret: newKeySecret(),
    expiresAt: new Date(now.getTime() + hours * hour),
  };
  await inTransaction(context, async (context) => {
    const person = await lockPerson(context.db, userId);
    if (!person || person.is_blocked)
      throw new Refusal('forbidden', 'This account cannot sign in: ask an administrator');
    await insertSession(context.db, {
      id: session.id,
      user_id: userId,
      ...proof,
      secret_hmac: context.keyHash.hash(session.secret),
      address: request.ip,
      user_agent: (request.headers['user-agent'] ?? '').slice(0, mostAgentLength),
      created_at: now,
      last_used_at: now,
      expires_at: session.expiresAt,
    });
    await updatePerson(context.db, userId, { last_login: now });
    await recordAudit(asPerson(context, person), {
      organizationId: null,
      action: 'session.created',
      entityId: session.id,
      details: { ...proof, address: request.ip },
    });
  });
  return session;
}

/** Starts the session of a browser, and sets its cookie. */
export async function startBrowserSession(
  context: ActorContext,
  wire: Pick<Wire, 'request' | 'reply'>,
  userId: string,
  way: SignInWay,
): Promise<SignedIn> {
  const { id, secret, expiresAt } = await startSession(context, wire.request, userId, {
    kind: 'browser',
    way,
  });
  const maxAge = Math.floor((expiresAt.getTime() - context.now().getTime()) / 1000);
  setCookie(context.settings, wire, { name: sessionCookie, value: `${id}.${secret}`, maxAge });
  return { userId, sessionId: id, csrfToken: csrfTokenOf(secret), expiresAt: expiresAt.toISOString() };
}

/** Starts the session of a program, which it sends as credentials. */
export async function startCliSession(
  context: ActorContext,
  { request, reply }: Pick<Wire, 'request' | 'reply'>,
  userId: string,
  way: SignInWay,
): Promise<CliSession> {
  const { id, secret, expiresAt } = await startSession(context, request, userId, { kind: 'cli', way });
  reply.header('cache-control', 'no-store');
  return {
    userId,
    apiKeyId: cliUserName(id),
    apiKeySecret: secret,
    expiresAt: expiresAt.toISOString(),
  };
}
