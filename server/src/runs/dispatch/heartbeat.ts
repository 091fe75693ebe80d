/** A heartbeat: contact is stored, the agent's list compared, and it learns the requests about its runs. */
import type {
  AgentCondition,
  GoodbyeRequest,
  HeartbeatReply,
  HeartbeatRequest,
  StoredCondition,
} from '#protocol/messages/agent.ts';
import type { Context } from '../../framework/context.ts';
import { storeContact } from '../../rows/agents/process-store.ts';
import { listAborting } from '../../rows/dispatch/run-store.ts';
import { agentSettings } from './agent-settings.ts';
import type { CallingAgent } from './authenticate-agent.ts';
import { compareHeld } from './compare-held.ts';

async function abortsFor(context: Context, agentProcessId: string): Promise<HeartbeatReply['abort']> {
  const rows = await listAborting(context.reserved, agentProcessId);
  return rows.map((row) => ({ jobId: row.job_id, attempt: row.number, how: 'gently' as const }));
}

/** @param at when the message arrived */
function storedCondition({ time, ...condition }: AgentCondition, at: Date): StoredCondition {
  return { ...condition, clockAheadSeconds: Math.round((Date.parse(time) - at.getTime()) / 1000) };
}

export async function receiveHeartbeat(
  context: Context,
  agent: CallingAgent,
  request: HeartbeatRequest,
): Promise<HeartbeatReply> {
  // On its own: whatever becomes of a lost run, the others must not count as silent.
  const at = context.now();
  const { condition } = request;
  const stored = condition && { condition: storedCondition(condition, at) };
  await storeContact(context.reserved, agent.id, { at, isGoodbye: false, ...stored });
  const unwanted = await compareHeld(context, agent, request.held);
  return {
    settings: agentSettings(context.settings),
    now: context.now().toISOString(),
    abort: await abortsFor(context, agent.id),
    unwanted,
  };
}

/** The agent stops; its runs continue, and the rules of contact apply to them. */
export async function receiveGoodbye(
  context: Context,
  agent: CallingAgent,
  _request: GoodbyeRequest,
): Promise<void> {
  await storeContact(context.reserved, agent.id, { at: context.now(), isGoodbye: true });
  const { id: agentId, agent_key: agentKey, hostname } = agent;
  context.log.info({ agentId, agentKey, hostname }, 'agent stopped');
}
