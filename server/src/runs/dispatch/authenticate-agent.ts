/** Identifies callers of the agent protocol: an agent by its secret, then its processes by their tokens. */

import type { FastifyRequest } from 'fastify';
import type { AgentToken } from '#protocol/messages/agent.ts';
import { actorWithoutRights } from '../../framework/access/actor.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { readCredentials } from '../../framework/http/callers/credentials.ts';
import { CredentialsRefused, refusedCallers } from '../../framework/http/callers/refused-callers.ts';
import { Refusal } from '../../ground/errors.ts';
import { type AgentScope, scopeOf, serves } from '../../rows/agents/agent-scope.ts';
import { listSecretHashes, noteSecretUse } from '../../rows/agents/secret-store.ts';
import type { AttemptKey } from '../../rows/dispatch/attempt-store.ts';
import {
  type AttemptInPlace,
  type CallingProcess,
  type CallRow,
  findCall,
} from '../../rows/dispatch/call-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { issueToken, readToken, type TokenClaims } from './agent-token.ts';
import { DispatchRefusal, ForeignAttempt } from './messages/refusals.ts';

/** An agent's key, with the organizations it acts for, and the secret that was sent with it. */
export interface CallingKey extends AgentScope {
  readonly agentKey: string;
  readonly secretId: string;
  /** Null: the secret does not end. */
  readonly secretEnd: Date | null;
}

/** A registered process of an agent, with the organizations it acts for and the secret of its token. */
export type CallingAgent = Omit<CallingProcess, 'registered_at'> &
  AgentScope & { readonly registered_at: Date; readonly secretId: string };

/** A call of a registered process. */
export interface AgentCall {
  readonly agent: CallingAgent;
  /** Attempt that the call is about. */
  readonly found: CallRow;
}

/** @param keyId of an existing key, whose secret was another one */
function wrongKey(keyId: string | null): CredentialsRefused {
  return new CredentialsRefused(
    'The agent key or its secret is not valid: check ENVARIUM_AGENT_KEY and ENVARIUM_AGENT_SECRET',
    keyId,
  );
}

function endedSecret(keyId: string, end: Date): CredentialsRefused {
  const text = `The secret of the agent ended at ${end.toISOString()}: create another one, and start the agent with that`;
  return new CredentialsRefused(text, keyId, 'expired');
}

/**
 * A caller that sends the secret of its agent.
 * @throws CredentialsRefused (401), TooManyRequests (429) where the address was refused too often
 */
export function authenticateAgentKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  return refusedCallers(context).check(request, () => identifyKey(context, request));
}

async function identifyKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  const credentials = readCredentials(request.headers.authorization);
  const rows = credentials ? await listSecretHashes(context.reserved, credentials.id) : [];
  const row = rows.find((each) => context.keyHash.matches(credentials?.secret ?? '', each.secret_hmac));
  if (!credentials || !row) throw wrongKey(rows.length > 0 ? (credentials?.id ?? null) : null);
  const { id: secretId, expires_at: secretEnd } = row;
  if (secretEnd !== null && secretEnd <= context.now()) throw endedSecret(credentials.id, secretEnd);
  return { agentKey: credentials.id, ...scopeOf(row), secretId, secretEnd };
}

/** The attempt that the address of a call names. */
function attemptOf({ params }: FastifyRequest): AttemptKey | null {
  const { jobId = '', attempt = '' } = params as { jobId?: string; attempt?: string };
  return isUuid(jobId) && /^\d{1,6}$/.test(attempt) ? { job_id: jobId, number: Number(attempt) } : null;
}

/**
 * Tokens of this installation are read without a count: they cannot be guesses, whatever else comes from their address.
 * @throws CredentialsRefused or TooManyRequests where there is no token of this installation, Refusal 401 where it has ended
 */
async function identifyCall(context: Context, request: FastifyRequest): Promise<TokenClaims> {
  const { headers, ip } = request;
  const claims = readToken(context, headers.authorization);
  if (!claims) {
    const text =
      'The token is missing or not valid: exchange the secret of the agent for a token with the call "token"';
    const refused = new CredentialsRefused(text, null);
    return refusedCallers(context).check(request, () => Promise.reject(refused));
  }
  if (claims.expiresAt > context.now()) return claims;
  context.log.debug({ agentKey: claims.agentKey, agentId: claims.agentId, address: ip }, 'token has ended');
  throw new Refusal('unauthorized', 'The token has ended: exchange the secret of the agent for another one');
}

/** @throws Refusal 401 for a process of another key, DispatchRefusal `epoch_replaced` for one that was replaced */
function processOf(found: CallRow, agentKey: string, { headers }: FastifyRequest): CallingProcess {
  const { process } = found;
  if (!process || process.agent_key !== agentKey)
    throw new Refusal(
      'unauthorized',
      'No agent with this key is registered under the id in the header x-envarium-agent',
    );
  if (String(process.epoch) !== String(headers['x-envarium-epoch']))
    throw new DispatchRefusal(
      'epoch_replaced',
      'Another agent has registered for this spool: this one must stop',
    );
  return process;
}

/** The id of the process that calls, as it says. */
function agentIdOf({ headers }: FastifyRequest): string | null {
  const id = String(headers['x-envarium-agent'] ?? '');
  return isUuid(id) ? id : null;
}

/**
 * One statement: the key, the process and the attempt that the call is about.
 * @throws Refusal 401, also for a token of another process or of a secret that is deleted or has ended; DispatchRefusal
 *   `epoch_replaced` where another agent has registered for the same spool
 */
export async function authenticateAgent(context: Context, request: FastifyRequest): Promise<AgentCall> {
  const claims = await identifyCall(context, request);
  const { agentKey, agentId, epoch, secretId } = claims;
  const id = agentIdOf(request);
  const found = await findCall(context.reserved, agentKey, id, attemptOf(request), context.now());
  if (!found?.secrets.includes(secretId))
    throw new Refusal(
      'unauthorized',
      'The secret that the token was issued for is deleted or has ended: start the agent with another one',
    );
  const process = processOf(found, agentKey, request);
  // Those of a process that was replaced are void, whatever epoch the caller claims.
  if (process.id !== agentId || String(process.epoch) !== String(epoch))
    throw new Refusal('unauthorized', 'The token was issued for another process of the agent');
  const registered_at = new Date(process.registered_at);
  return { agent: { ...process, ...scopeOf(found), registered_at, secretId }, found };
}

/**
 * Another token for a registered process, in exchange for the secret of its agent.
 * @throws Refusal 401, DispatchRefusal `epoch_replaced`
 */
export async function exchangeSecret(
  context: Context,
  key: CallingKey,
  request: FastifyRequest,
): Promise<AgentToken> {
  const { agentKey, secretId, secretEnd } = key;
  const found = await findCall(context.reserved, agentKey, agentIdOf(request), null, context.now());
  if (!found) throw wrongKey(null);
  const { id: agentId, epoch } = processOf(found, agentKey, request);
  await noteSecretUse(context.reserved, secretId, context.now());
  return issueToken(context, { agentKey, agentId, epoch, secretId }, secretEnd);
}

/**
 * The attempt that a call speaks of, which must be the caller's own, and of an organization that the agent acts for.
 * @param fence as the call says; null where any fence is accepted (a state is never refused)
 */
export function attemptOfCall({ agent, found }: AgentCall, fence: number | null): AttemptInPlace {
  const { attempt, job, environment_id: environmentId, deployment_organization_id: organizationId } = found;
  if (!attempt || !job || !environmentId || !organizationId || !serves(agent, organizationId))
    throw new ForeignAttempt('Attempt not found');
  if (attempt.agent_process_id !== agent.id)
    throw new ForeignAttempt('This attempt belongs to another process of an agent');
  const isOutdated = attempt.fence !== fence || job.attempts !== attempt.number;
  if (fence !== null && isOutdated)
    throw new DispatchRefusal('fence_outdated', 'A newer attempt has replaced this one');
  return { attempt, job, environmentId, organizationId };
}

/** The context of what an agent does, for the audit trail. */
export function onBehalfOf(context: Context, agentKey: string, request: FastifyRequest): ActorContext {
  const actor = actorWithoutRights(agentKey);
  return { ...context, actor, requestId: request.id, address: request.ip };
}
