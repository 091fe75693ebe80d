/** Identifies callers of the agent protocol: an agent's own key, then the process by its id and epoch. */

import type { FastifyRequest } from 'fastify';
import { actorWithoutRights } from '../../framework/access/actor.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { readCredentials } from '../../framework/http/callers/credentials.ts';
import { CredentialsRefused, refusedCallers } from '../../framework/http/callers/refused-callers.ts';
import { Refusal } from '../../ground/errors.ts';
import { type AgentScope, scopeOf, serves } from '../../rows/agents/agent-scope.ts';
import { listSecretHashes } from '../../rows/agents/agent-store.ts';
import type { AttemptKey } from '../../rows/dispatch/attempt-store.ts';
import {
  type AttemptInPlace,
  type CallingProcess,
  type CallRow,
  findCall,
} from '../../rows/dispatch/call-store.ts';
import { isUuid } from '../../rows/entity-home.ts';
import { DispatchRefusal, ForeignAttempt } from './messages/refusals.ts';

/** An agent's key, with the organizations it acts for. */
export interface CallingKey extends AgentScope {
  readonly agentKey: string;
}

/** A registered process of an agent, with the organizations it acts for and the secret that it called with. */
export type CallingAgent = Omit<CallingProcess, 'registered_at'> &
  AgentScope & { readonly registered_at: Date; readonly secret_hmac: Buffer };

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

/** @throws CredentialsRefused (401), TooManyRequests (429) where the address was refused too often */
export function authenticateAgentKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  return refusedCallers(context).check(request, () => identifyKey(context, request));
}

async function identifyKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  const credentials = readCredentials(request.headers.authorization);
  const rows = credentials ? await listSecretHashes(context.reserved, credentials.id) : [];
  const row = rows.find((each) => context.keyHash.matches(credentials?.secret ?? '', each.secret_hmac));
  if (!credentials || !row) throw wrongKey(rows.length > 0 ? (credentials?.id ?? null) : null);
  return { agentKey: credentials.id, ...scopeOf(row) };
}

/** The attempt that the address of a call names. */
function attemptOf({ params }: FastifyRequest): AttemptKey | null {
  const { jobId = '', attempt = '' } = params as { jobId?: string; attempt?: string };
  return isUuid(jobId) && /^\d{1,6}$/.test(attempt) ? { job_id: jobId, number: Number(attempt) } : null;
}

interface IdentifiedCall {
  readonly found: CallRow;
  readonly secret: Buffer;
}

async function identifyCall(context: Context, request: FastifyRequest): Promise<IdentifiedCall> {
  const credentials = readCredentials(request.headers.authorization);
  const id = String(request.headers['x-envarium-agent'] ?? '');
  const found =
    credentials &&
    (await findCall(context.reserved, credentials.id, isUuid(id) ? id : null, attemptOf(request)));
  const secret =
    credentials && found?.secrets.find((each) => context.keyHash.matches(credentials.secret, each));
  if (!found || !secret) throw wrongKey(found && found.secrets.length > 0 ? credentials.id : null);
  return { found, secret };
}

/**
 * One statement: the key, the process and the attempt that the call is about.
 * @throws Refusal 401, DispatchRefusal `epoch_replaced` where another agent has registered for the same spool
 */
export async function authenticateAgent(context: Context, request: FastifyRequest): Promise<AgentCall> {
  const identified = await refusedCallers(context).check(request, () => identifyCall(context, request));
  const { found, secret } = identified;
  const agentKey = readCredentials(request.headers.authorization)?.id;
  const { process } = found;
  if (!process || process.agent_key !== agentKey)
    throw new Refusal(
      'unauthorized',
      'No agent with this key is registered under the id in the header x-envarium-agent',
    );
  if (String(process.epoch) !== String(request.headers['x-envarium-epoch']))
    throw new DispatchRefusal(
      'epoch_replaced',
      'Another agent has registered for this spool: this one must stop',
    );
  const registered_at = new Date(process.registered_at);
  const agent = { ...process, ...scopeOf(found), registered_at, secret_hmac: secret };
  return { agent, found };
}

/**
 * The attempt that a call speaks of, which must be of an organization that the agent acts for.
 * @param fence as the call says; null where any fence is accepted (a state is never refused)
 */
export function attemptOfCall({ agent, found }: AgentCall, fence: number | null): AttemptInPlace {
  const { attempt, job, environment_id: environmentId, deployment_organization_id: organizationId } = found;
  if (!attempt || !job || !environmentId || !organizationId || !serves(agent, organizationId))
    throw new ForeignAttempt('Attempt not found');
  if (found.holder_key !== agent.agent_key)
    throw new ForeignAttempt('This attempt belongs to an agent with another key');
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
