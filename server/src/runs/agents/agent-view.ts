/** An agent as the API shows it, to those whose deployments it runs. */
import type { Agent } from '#contract/agents/shapes.ts';
import { version } from '#protocol/version.ts';
import type { ActorContext } from '../../framework/context.ts';
import { notFound } from '../../ground/errors.ts';
import { type AgentRow, findAgent } from '../../rows/agents/agent-store.ts';
import { listProcesses, newestProcesses } from '../../rows/agents/process-store.ts';
import { agentsWithProjects, listDefaultAgents } from '../../rows/agents/project-agent-store.ts';
import { listValidSecrets } from '../../rows/agents/secret-store.ts';
import { countRunning, listWaitingJobs, type WaitingJobs } from '../../rows/dispatch/load-store.ts';
import { creatorsOf, isOperator, systemUserId } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { canRun, healthOf, type ProcessFacts } from './agent-health.ts';
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

/** Facts about several agents, each read once. */
async function loadFacts(context: ActorContext, shown: readonly ShownAgent[]) {
  const { db, actor } = context;
  const keys = [...new Set(shown.map(({ row }) => row.agent_key))];
  const organizationIds = [...new Set(shown.map(({ organizationId }) => organizationId))];
  const hasShared = shown.some(({ row }) => row.is_shared);
  const now = context.now();
  const [defaults, newest, processes, waiting, running, busy, secrets, users, showsShared] =
    await Promise.all([
      listDefaultAgents(db, organizationIds),
      newestProcesses(db, keys),
      listProcesses(db, keys, reachableSince(context)),
      listWaitingJobs(db, organizationIds),
      countRunning(db, keys),
      agentsWithProjects(db, keys),
      listValidSecrets(db, keys, now),
      creatorsOf(
        db,
        shown.map(({ row }) => row),
      ),
      hasShared && isOperator(db, actor.userId),
    ]);
  return {
    ...{ now, defaults, waiting, running, busy, users, showsShared },
    newest: new Map(newest.map((each) => [each.agent_key, each])),
    secrets: Map.groupBy(secrets, (each) => each.agent_key),
    processes: Map.groupBy(processes, (each) => each.agent_key),
  };
}

type AgentFacts = Awaited<ReturnType<typeof loadFacts>>;

/** The jobs of an organization that could be handed to an agent. */
function waitingFor(
  { row, organizationId }: ShownAgent,
  { waiting, busy }: AgentFacts,
  processes: readonly ProcessFacts[],
): WaitingJobs[] {
  const takesOthers = !busy.has(row.agent_key);
  return waiting
    .filter((jobs) => jobs.organization_id === organizationId)
    .filter((jobs) =>
      jobs.agent_key === null
        ? takesOthers && (processes.length === 0 || processes.some((each) => canRun(jobs, each)))
        : jobs.agent_key === row.agent_key,
    );
}

function view(shown: ShownAgent, facts: AgentFacts): Agent {
  const { row, organizationId } = shown;
  const newest = facts.newest.get(row.agent_key);
  const processes = facts.processes.get(row.agent_key) ?? [];
  // The creator and the machines of a shared agent are hidden from others.
  const showsMachines = !row.is_shared || facts.showsShared;
  const createdBy = showsMachines ? row.created_by : systemUserId;
  const chosen = facts.defaults.get(organizationId);
  return {
    agentKey: row.agent_key,
    organizationId,
    ...healthOf({
      now: facts.now,
      contactAt: newest?.contact_at ?? null,
      processes,
      waiting: waitingFor(shown, facts, processes),
      running: facts.running.get(row.agent_key) ?? 0,
      secrets: facts.secrets.get(row.agent_key) ?? [],
      serviceVersion: version,
      showsMachines,
    }),
    id: row.id,
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    createdBy,
    createdByUser: userOf(facts.users, createdBy),
    ...(row.logs ? { logs: row.logs } : {}),
    ...(newest ? { version: newest.version, lastContactAt: newest.contact_at.toISOString() } : {}),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    isSaas: row.is_shared,
    isDefault: chosen === undefined ? row.is_default : chosen === row.agent_key,
    processes: processes.map(({ hostname, version, contact_at, isolation }) => ({
      ...(showsMachines ? { hostname } : {}),
      version,
      contactAt: contact_at.toISOString(),
      isolation,
    })),
  };
}

export async function agentViews(context: ActorContext, shown: readonly ShownAgent[]): Promise<Agent[]> {
  const facts = await loadFacts(context, shown);
  return shown.map((each) => view(each, facts));
}

export async function agentView(context: ActorContext, shown: ShownAgent): Promise<Agent> {
  return view(shown, await loadFacts(context, [shown]));
}
