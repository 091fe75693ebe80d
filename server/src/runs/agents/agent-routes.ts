/** Operations on agents. */
import { operations } from '#contract/operations.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import { baseUrlOf } from '../../framework/http/callers/base-url.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { unknownEntity } from '../../ground/errors.ts';
import { insertAgent, listAgentRows } from '../../rows/agents/agent-store.ts';
import { environmentFile, helmValues } from './agent-files.ts';
import { agentView, agentViews, visibleAgent, visibleOrganizations } from './agent-view.ts';
import { deleteAgent } from './delete-agent.ts';
import { agentNameTaken, updateAgent } from './update-agent.ts';

export const agentFamilyRoutes: Route[] = [
  route(operations.listAgents, async (context, { query }) => {
    const visible = visibleOrganizations(context);
    if (query.organizationId !== undefined && visible.length > 0 && !visible.includes(query.organizationId)) {
      throw unknownEntity('query.organizationId', 'organization');
    }
    const shown = visible.filter((id) => query.organizationId === undefined || id === query.organizationId);
    const rows = await listAgentRows(context.db, shown);
    return agentViews(
      context,
      rows.flatMap((row) =>
        (row.is_shared ? shown : [row.organization_id]).map((organizationId) => ({ row, organizationId })),
      ),
    );
  }),
  route(operations.getAgent, async (context, { params }) => {
    return agentView(context, await visibleAgent(context, params.agentKey));
  }),
  route(operations.updateAgent, (context, { params, body }) => updateAgent(context, params.agentKey, body)),
  streamRoute(operations.getAgentValues, async (context, { params }, { request, reply }) => {
    const { row } = await visibleAgent(context, params.agentKey);
    const url = baseUrlOf(context.settings, request);
    return reply.type('text/yaml; charset=utf-8').send(helmValues(url, row.agent_key));
  }),
  streamRoute(operations.getAgentDotenv, async (context, { params }, { request, reply }) => {
    const { row } = await visibleAgent(context, params.agentKey);
    const url = baseUrlOf(context.settings, request);
    return reply.type('text/plain; charset=utf-8').send(environmentFile(url, row.agent_key));
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
      if (!row) throw agentNameTaken(name);
      await recordAudit(context, {
        organizationId,
        action: 'agent.created',
        entityId: row.id,
        details: { name, agentKey: row.agent_key },
        ...changesOf(null, { name, description, logs }),
      });
      return row;
    });
    return agentView(context, { row, organizationId });
  }),
  route(operations.deleteAgent, (context, { params, query }) =>
    deleteAgent(context, params.agentKey, query.force === true),
  ),
];
