/** Operations on agents and their secrets. */
import type { Agent } from '#contract/agents/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, unknownEntity } from '../../ground/errors.ts';
import {
  type AgentRow,
  insertAgent,
  insertAgentSecret,
  listAgentRows,
  listAgentSecrets,
} from '../../rows/agents/agent-store.ts';
import { listProcesses, newestProcess } from '../../rows/agents/process-store.ts';
import { creatorsOf, getUsers, isOperator, systemUserId } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { reachableSince } from './contact.ts';
import { deleteAgent, requireManagedAgent, revokeAgentSecret } from './delete-agent.ts';

async function view(context: ActorContext, row: AgentRow): Promise<Agent> {
  const since = reachableSince(context);
  const [process, inContact, isOwn] = await Promise.all([
    newestProcess(context.db, row.agent_key),
    listProcesses(context.db, row.agent_key, since),
    // The creator and the machines of a shared agent are hidden from others.
    row.is_shared ? isOperator(context.db, context.actor.userId) : true,
  ]);
  return {
    agentKey: row.agent_key,
    organizationId: row.organization_id,
    status: inContact.length > 0 ? 'ACTIVE' : 'INACTIVE',
    id: row.id,
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    createdBy: isOwn ? row.created_by : systemUserId,
    ...(row.logs ? { logs: row.logs } : {}),
    ...(process ? { version: process.version, lastContactAt: process.contact_at.toISOString() } : {}),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    isSaas: false,
    isDefault: row.is_default,
    processes: inContact.map(({ hostname, version, contact_at, isolation }) => ({
      ...(isOwn ? { hostname } : {}),
      version,
      contactAt: contact_at.toISOString(),
      isolation,
    })),
  };
}

function fingerprintOf({ auditKeys }: ActorContext, secret: string): string {
  return auditKeys.fingerprint('agent secret', secret);
}

export const agentFamilyRoutes: Route[] = [
  route(operations.listAgents, async (context, { query }) => {
    const visible = context.actor.access.reach('VIEW_ORGANIZATION').organizationIds;
    if (query.organizationId !== undefined && visible.length > 0 && !visible.includes(query.organizationId)) {
      throw unknownEntity('query.organizationId', 'organization');
    }
    const shown = visible.filter((id) => query.organizationId === undefined || id === query.organizationId);
    const rows = await listAgentRows(context.db, shown);
    const listed = await Promise.all(
      rows.map(async (row) => {
        const agent = await view(context, row);
        const organizationIds = row.is_shared ? shown : [row.organization_id];
        return organizationIds.map((organizationId) => ({ ...agent, organizationId }));
      }),
    );
    return listed.flat();
  }),
  route(operations.createAgent, async (context, { body }) => {
    const { organizationId, name, description = null, logs = null } = body;
    const agent = {
      organization_id: organizationId,
      name,
      description,
      logs: logs && JSON.stringify(logs),
      created_by: context.actor.userId,
    };
    const row = await inTransaction(context, async (context) => {
      const row = await insertAgent(context.db, context, agent);
      if (!row) throw conflict(`An agent named "${name}" already exists: choose another name`);
      await recordAudit(context, {
        organizationId,
        action: 'agent.created',
        entityId: row.id,
        details: { name, agentKey: row.agent_key },
        ...changesOf(null, { name, description, logs }),
      });
      return row;
    });
    return view(context, row);
  }),
  route(operations.createAgentSecret, (context, { params, body }) =>
    inTransaction(context, async (context) => {
      const agent = await requireManagedAgent(context, params.agentKey);
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
        entityId: agent.id,
        details: { secretId: row.id },
        ...changesOf(null, { description: row.description, secret: fingerprintOf(context, secret) }),
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
  route(operations.deleteAgent, (context, { params, query }) =>
    deleteAgent(context, params.agentKey, query.force === true),
  ),
  route(operations.listAgentSecrets, async (context, { params }) => {
    const agent = await requireManagedAgent(context, params.agentKey);
    const rows = await listAgentSecrets(context.db, agent.agent_key);
    const users = await creatorsOf(context.db, rows);
    return rows.map((row) => ({
      id: row.id,
      agentId: agent.id,
      createdBy: userOf(users, row.created_by),
      createdAt: row.created_at.toISOString(),
      ...(row.description ? { description: row.description } : {}),
    }));
  }),
  route(operations.deleteAgentSecret, (context, { params, query }) =>
    revokeAgentSecret(context, params.agentKey, {
      secretId: params.secretId,
      isForced: query.force === true,
    }),
  ),
];
