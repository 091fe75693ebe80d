/** Who calls the agent protocol: an agent's own key, then the process by its id and epoch. */
import type { FastifyRequest } from 'fastify';
import { listSecretHashes } from '../agents/agent-store.ts';
import { type AgentScope, scopeOf, serves } from '../agents/agent-scope.ts';
import type { ActorContext, Context } from '../context.ts';
import { readCredentials } from '../http/credentials.ts';
import { Refusal } from '../http/errors.ts';
import { CredentialsRefused, refusedCallers } from '../http/refused-callers.ts';
import { isUuid } from '../access/entity-home.ts';
import { type AttemptInPlace, getAttempt } from './attempt-store.ts';
import { type AgentProcessRow, getAgentProcess } from '../agents/process-store.ts';
import { DispatchRefusal } from './refusals.ts';

/** An agent's key, with the organizations it acts for. */
export interface CallingKey extends AgentScope {
  readonly agentKey: string;
}

/** A registered process of an agent, with the organizations it acts for. */
export type CallingAgent = AgentProcessRow & AgentScope;

/** @throws CredentialsRefused (401), TooManyRequests (429) where the address was refused too often */
export function authenticateAgentKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  return refusedCallers(context).check(request, () => identifyKey(context, request));
}

async function identifyKey(context: Context, request: FastifyRequest): Promise<CallingKey> {
  const credentials = readCredentials(request.headers.authorization);
  const rows = credentials ? await listSecretHashes(context.reserved, credentials.id) : [];
  const row = rows.find((each) => context.keyHash.matches(credentials?.secret ?? '', each.secret_hmac));
  if (!credentials || !row)
    throw new CredentialsRefused(
      'The agent key or its secret is not valid: check ENVARIUM_AGENT_KEY and ENVARIUM_AGENT_SECRET',
      rows.length > 0 ? (credentials?.id ?? null) : null,
    );
  return { agentKey: credentials.id, ...scopeOf(row) };
}

/**
 * @throws Refusal 401, DispatchRefusal `epoch_replaced` where another agent has registered for the same spool
 */
export async function authenticateAgent(context: Context, request: FastifyRequest): Promise<CallingAgent> {
  const id = String(request.headers['x-envarium-agent'] ?? '');
  const [{ agentKey, onlyOrganizationId }, agent] = await Promise.all([
    authenticateAgentKey(context, request),
    isUuid(id) ? getAgentProcess(context.reserved, id) : undefined,
  ]);
  if (!agent || agent.agent_key !== agentKey)
    throw new Refusal(
      'unauthorized',
      'No agent with this key is registered under the id in the header x-envarium-agent',
    );
  if (String(agent.epoch) !== String(request.headers['x-envarium-epoch']))
    throw new DispatchRefusal(
      'epoch_replaced',
      'Another agent has registered for this spool: this one must stop',
    );
  return { ...agent, onlyOrganizationId };
}

/**
 * The attempt that a call speaks of, which must be of an organization that the agent acts for.
 * @param fence as the call says; null where any fence is accepted (a state is never refused)
 */
export async function findAttempt(
  context: Context,
  agent: CallingAgent,
  params: { jobId: string; attempt: string },
  fence: number | null,
): Promise<AttemptInPlace> {
  const place =
    isUuid(params.jobId) && /^\d{1,6}$/.test(params.attempt)
      ? await getAttempt(context.db, params.jobId, Number(params.attempt))
      : undefined;
  if (!place || !serves(agent, place.organizationId))
    throw new DispatchRefusal('fence_outdated', 'Attempt not found');
  const agentKey =
    place.attempt.agent_process_id === agent.id
      ? agent.agent_key
      : (await getAgentProcess(context.db, place.attempt.agent_process_id))?.agent_key;
  if (agentKey !== agent.agent_key)
    throw new DispatchRefusal('fence_outdated', 'This attempt belongs to an agent with another key');
  const isOutdated = place.attempt.fence !== fence || place.job.attempts !== place.attempt.number;
  if (fence !== null && isOutdated)
    throw new DispatchRefusal('fence_outdated', 'A newer attempt has replaced this one');
  return place;
}

/** The context of what an agent does, for the audit trail. */
export function onBehalfOf(context: Context, agentKey: string, request: FastifyRequest): ActorContext {
  const actor = { userId: agentKey, name: agentKey, email: '', roles: new Map() };
  return { ...context, actor, requestId: request.id };
}
