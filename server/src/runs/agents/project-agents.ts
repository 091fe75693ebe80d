/** Agents of projects: shown, assigned, and the default agent of an organization. */
import type { ProjectAgents } from '#contract/agents/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf, isUnchanged } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import { scopeOf, serves } from '../../rows/agents/agent-scope.ts';
import {
  type AgentRow,
  findAgent,
  isDefaultAgentName,
  listAgentRows,
} from '../../rows/agents/agent-store.ts';
import {
  assignProjects,
  findDefaultAgent,
  listProjectAgents,
  setDefaultAgentRow,
  unassignProjects,
} from '../../rows/agents/project-agent-store.ts';
import { lockOrganizationRow } from '../../rows/organizations/organization-store.ts';
import { listProjectPaths } from '../../rows/projects/project-store.ts';
import { jobsChannel } from '../queue/enqueue.ts';
import { agentsOfProjects } from './agents-of-projects.ts';

/** A reply that is sent back as a request changes nothing: there, the key of the shared agent stands for the default. */
function shownKey({ agent_key: key, id }: Pick<AgentRow, 'agent_key' | 'id'>): string {
  return isDefaultAgentName(key) ? id : key;
}

async function view({ db, actor }: ActorContext, organizationId: string): Promise<ProjectAgents> {
  const reach = actor.access.reach('VIEW_PROJECT', organizationId);
  const [assigned, chosen, agents, projects] = await Promise.all([
    listProjectAgents(db, organizationId),
    findDefaultAgent(db, organizationId),
    listAgentRows(db, [organizationId]),
    listProjectPaths(db, reach),
  ]);
  const defaultAgent = chosen ?? agents.find(({ is_shared }) => is_shared)?.agent_key ?? '';
  const known = new Map(agents.map((agent) => [agent.agent_key, agent]));
  const shown = agentsOfProjects(projects, assigned).filter(({ agentKey }) => agentKey !== defaultAgent);
  return {
    defaultAgent,
    projectsAgents: Object.fromEntries(
      shown.map(({ projectId, agentKey }) => {
        const agent = known.get(agentKey);
        return [projectId, agent ? shownKey(agent) : agentKey];
      }),
    ),
    inheritedFrom: Object.fromEntries(
      shown.flatMap(({ projectId, from }) => (from === projectId ? [] : [[projectId, from]])),
    ),
    isDefaultChosen: chosen !== undefined,
  };
}

/**
 * @param sent agents by ids of projects
 * @returns keys of the agents; null: the default agent; undefined: the agent of the project above
 * @throws Refusal 400 that names the first project or agent which the organization does not have
 */
async function readAssignments(
  { db }: ActorContext,
  organizationId: string,
  sent: Readonly<Record<string, string | null>>,
): Promise<Map<string, string | null | undefined>> {
  const entries = Object.entries(sent);
  const [agents, projects] = await Promise.all([
    listAgentRows(db, [organizationId]),
    listProjectPaths(db, { organizationIds: [organizationId], projectIds: [] }),
  ]);
  const own = new Set(projects.map(({ id }) => id));
  const byName = new Map(
    agents.flatMap(({ id, agent_key: key }) => [[id, key] as const, [key, key] as const]),
  );
  const keys = new Map<string, string | null | undefined>();
  for (const [projectId, name] of entries) {
    const id = projectId.toLowerCase();
    if (!own.has(id))
      throw badField('body', `has "${projectId}", which is not the id of a project of the organization`);
    const isDefault = name !== null && isDefaultAgentName(name);
    const key = name === null ? undefined : isDefault ? null : byName.get(name);
    if (key === undefined && name !== null)
      throw badField(
        `body.${projectId}`,
        `is "${name}", which is not the key or the id of an agent of the organization; it may have been deleted`,
      );
    keys.set(id, key);
  }
  return keys;
}

async function assign(
  context: ActorContext,
  organizationId: string,
  sent: Readonly<Record<string, string | null>>,
): Promise<ProjectAgents> {
  await lockOrganizationRow(context.db, organizationId);
  const [keys, before] = await Promise.all([
    readAssignments(context, organizationId, sent),
    listProjectAgents(context.db, organizationId),
  ]);
  const was = new Map(before.map((row) => [row.project_id, row.agent_key]));
  const changed = [...keys].filter(([id, key]) => was.get(id) !== key);
  const stored = changed.filter((entry): entry is [string, string | null] => entry[1] !== undefined);
  await assignProjects(context.db, organizationId, new Map(stored));
  await unassignProjects(
    context.db,
    changed.filter(([, key]) => key === undefined).map(([id]) => id),
  );
  const inWords = (key: string | null | undefined) => (key === null ? 'default' : key);
  const changes = changesOf(
    Object.fromEntries(changed.map(([id]) => [id, inWords(was.get(id))])),
    Object.fromEntries(changed.map(([id, key]) => [id, inWords(key)])),
  );
  if (!isUnchanged(changes)) await recordChanges(context, organizationId, 'agent.projectsAssigned', changes);
  return view(context, organizationId);
}

async function recordChanges(
  context: ActorContext,
  organizationId: string,
  action: string,
  changes: ReturnType<typeof changesOf>,
): Promise<void> {
  await recordAudit(context, { organizationId, action, entityId: organizationId, ...changes });
  // Jobs that wait may now be another agent's.
  await context.events.publish(context.db, jobsChannel);
}

/** @throws Refusal 400 for an agent that does not run deployments of the organization */
async function chooseDefault(
  context: ActorContext,
  organizationId: string,
  name: string | null,
): Promise<ProjectAgents> {
  await lockOrganizationRow(context.db, organizationId);
  const agent = name === null ? undefined : await findAgent(context.db, name);
  if (name !== null && (!agent || !serves(scopeOf(agent), organizationId)))
    throw unknownEntity('body.agent', 'agent');
  const before = (await findDefaultAgent(context.db, organizationId)) ?? null;
  const after = agent?.agent_key ?? null;
  await setDefaultAgentRow(context.db, organizationId, after);
  const changes = changesOf({ defaultAgent: before }, { defaultAgent: after });
  if (!isUnchanged(changes)) await recordChanges(context, organizationId, 'agent.defaultChosen', changes);
  return view(context, organizationId);
}

export const projectAgentRoutes: Route[] = [
  route(operations.listProjectAgents, (context, { query }) =>
    view(context, query.organizationId.toLowerCase()),
  ),
  route(operations.assignProjectAgents, (context, { query, body }) =>
    inTransaction(context, (context) => assign(context, query.organizationId.toLowerCase(), body)),
  ),
  route(operations.setDefaultAgent, (context, { query, body }) =>
    inTransaction(context, (context) =>
      chooseDefault(context, query.organizationId.toLowerCase(), body.agent),
    ),
  ),
];
