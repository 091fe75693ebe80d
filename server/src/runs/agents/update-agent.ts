/** Changes name, description and logs of an agent. */
import type { Agent, AgentLogs } from '#contract/agents/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, type Refusal } from '../../ground/errors.ts';
import { type AgentRow, lockAgent, updateAgentRow } from '../../rows/agents/agent-store.ts';
import { agentView } from './agent-view.ts';
import { requireManagedAgent } from './delete-agent.ts';

interface AgentFields {
  readonly name?: string;
  readonly description?: string | null;
  readonly logs?: AgentLogs | null;
}

export function agentNameTaken(name: string): Refusal {
  return conflict(`An agent named "${name}" already exists: choose another name`);
}

/** For the audit trail. */
function audited({ name, description, logs }: AgentRow) {
  return { name, description, logs };
}

/**
 * @param keyOrId as in the path
 * @param body what is absent stays; null clears
 * @throws Refusal 403 for a shared agent, 404, 409 where the organization has an agent of that name
 */
export function updateAgent(context: ActorContext, keyOrId: string, body: AgentFields): Promise<Agent> {
  const { name, description, logs } = body;
  return inTransaction(context, async (context) => {
    await lockAgent(context.db, keyOrId);
    const before = await requireManagedAgent(context, keyOrId);
    const row = await updateAgentRow(context.db, before, {
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description: description || null }),
      ...(logs === undefined ? {} : { logs: logs && JSON.stringify(logs) }),
      updated_at: context.now(),
    });
    if (!row) throw agentNameTaken(name ?? '');
    await recordAudit(context, {
      organizationId: row.organization_id,
      action: 'agent.updated',
      entityId: row.id,
      details: { name: row.name, agentKey: row.agent_key },
      ...changesOf(audited(before), audited(row)),
    });
    return agentView(context, { row, organizationId: row.organization_id });
  });
}
