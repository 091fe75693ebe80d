/** An agent as the API shows it, to those whose deployments it runs. */
import type { Agent } from '#contract/agents/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { notFound } from '../../ground/errors.ts';
import { type AgentRow, findAgent } from '../../rows/agents/agent-store.ts';
import { listProcesses, newestProcess } from '../../rows/agents/process-store.ts';
import { listDefaultAgents } from '../../rows/agents/project-agent-store.ts';
import { getUsers, isOperator, systemUserId } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { reachableSince } from './contact.ts';

/** The organizations whose agents a caller may see. */
export function visibleOrganizations({ actor }: ActorContext): readonly string[] {
  return actor.access.reach('VIEW_ORGANIZATION').organizationIds;
}

/** As an agent is shown to one organization. */
export interface ShownAgent {
  readonly row: AgentRow;
  readonly organizationId: string;
}

/**
 * An agent that runs deployments of an organization that the caller may see.
 * @param name the key of the agent, its id, or any name of the default agent
 * @returns also the organization that it is shown for: its own, if the caller may see that one
 * @throws Refusal 404
 */
export async function visibleAgent(context: ActorContext, name: string): Promise<ShownAgent> {
  const row = await findAgent(context.db, name);
  const visible = visibleOrganizations(context);
  const isOwn = row !== undefined && visible.includes(row.organization_id);
  const organizationId = isOwn ? row.organization_id : row?.is_shared ? visible[0] : undefined;
  if (row === undefined || organizationId === undefined) throw notFound('agent', name);
  return { row, organizationId };
}

export async function agentViews(context: ActorContext, shown: readonly ShownAgent[]): Promise<Agent[]> {
  const defaults = await listDefaultAgents(
    context.db,
    shown.map(({ organizationId }) => organizationId),
  );
  const views = new Map(
    await Promise.all(
      [...new Set(shown.map(({ row }) => row))].map(
        async (row) => [row, await viewOfRow(context, row)] as const,
      ),
    ),
  );
  return shown.flatMap(({ row, organizationId }) => {
    const view = views.get(row);
    const chosen = defaults.get(organizationId);
    const isDefault = chosen === undefined ? row.is_default : chosen === row.agent_key;
    return view === undefined ? [] : [{ ...view, organizationId, isDefault }];
  });
}

export async function agentView(context: ActorContext, shown: ShownAgent): Promise<Agent> {
  const [view] = await agentViews(context, [shown]);
  return view as Agent;
}

async function viewOfRow(context: ActorContext, row: AgentRow): Promise<Omit<Agent, 'organizationId'>> {
  const since = reachableSince(context);
  const [process, inContact, isOwn] = await Promise.all([
    newestProcess(context.db, row.agent_key),
    listProcesses(context.db, row.agent_key, since),
    // The creator and the machines of a shared agent are hidden from others.
    row.is_shared ? isOperator(context.db, context.actor.userId) : true,
  ]);
  const createdBy = isOwn ? row.created_by : systemUserId;
  return {
    agentKey: row.agent_key,
    status: inContact.length > 0 ? 'ACTIVE' : 'INACTIVE',
    id: row.id,
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    createdBy,
    createdByUser: userOf(await getUsers(context.db, [createdBy]), createdBy),
    ...(row.logs ? { logs: row.logs } : {}),
    ...(process ? { version: process.version, lastContactAt: process.contact_at.toISOString() } : {}),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    isSaas: row.is_shared,
    processes: inContact.map(({ hostname, version, contact_at, isolation }) => ({
      ...(isOwn ? { hostname } : {}),
      version,
      contactAt: contact_at.toISOString(),
      isolation,
    })),
  };
}
