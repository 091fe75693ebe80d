/** Operations on agents and their secrets. */
import type { Agent } from '#contract/agents/shapes.ts';
import { operations } from '#contract/operations.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { notFound, Refusal, unknownEntity } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { getUsers, isOperator } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { type AgentRow, findAgent, insertAgentSecret, listAgentRows } from './agent-store.ts';
import { newestProcess } from './process-store.ts';

/** Readers see an agent as inactive after this much silence. */
const inactiveAfterMilliseconds = 60_000;

async function view(context: Context, row: AgentRow): Promise<Agent> {
  const process = await newestProcess(context.db, row.agent_key);
  const isHeard =
    process &&
    !process.said_goodbye &&
    context.now().getTime() - process.contact_at.getTime() < inactiveAfterMilliseconds;
  return {
    agentKey: row.agent_key,
    organizationId: row.organization_id,
    status: isHeard ? 'ACTIVE' : 'INACTIVE',
    id: row.id,
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    createdBy: row.created_by,
    ...(process ? { version: process.version } : {}),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    isSaas: false,
    isDefault: row.is_default,
  };
}

/** @throws Refusal 403 for callers other than the operator, where all organizations share the agent */
async function requireOperatorIfShared({ db, actor }: ActorContext, agent: AgentRow): Promise<void> {
  if (!agent.is_shared || (await isOperator(db, actor.userId))) return;
  throw new Refusal(
    'forbidden',
    `The agent ${agent.agent_key} runs deployments of all organizations: only the operator, who has the first key of the installation, can create secrets for it`,
  );
}

export const agentFamilyRoutes: Route[] = [
  route(operations.listAgents, async (context, { query }) => {
    const visible = [...context.actor.roles.keys()];
    if (query.organizationId !== undefined && visible.length > 0 && !visible.includes(query.organizationId)) {
      throw unknownEntity('query.organizationId', 'organization');
    }
    const rows = await listAgentRows(
      context.db,
      visible.filter((id) => query.organizationId === undefined || id === query.organizationId),
    );
    return Promise.all(rows.map((row) => view(context, row)));
  }),
  route(operations.createAgentSecret, (context, { params, body }) =>
    inTransaction(context, async (context) => {
      const agent = await findAgent(context.db, params.agentKey);
      if (!agent) throw notFound('agent', params.agentKey);
      await requireOperatorIfShared(context, agent);
      const { row, secret } = await insertAgentSecret(
        context.db,
        context,
        agent.agent_key,
        context.actor.userId,
        body.description ?? null,
      );
      await recordAudit(context, {
        organizationId: agent.organization_id,
        action: 'agent.secretCreated',
        entity: 'agent',
        entityId: agent.id,
      });
      const users = await getUsers(context.db, [context.actor.userId]);
      return {
        secret,
        createdBy: userOf(users, context.actor.userId),
        agentId: agent.id,
        id: row.id,
        createdAt: row.created_at.toISOString(),
        ...(row.description ? { description: row.description } : {}),
      };
    }),
  ),
];
