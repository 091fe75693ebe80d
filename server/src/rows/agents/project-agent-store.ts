/** SQL of which agents run the deployments of which projects. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { ProjectAgentTable } from '../schema.ts';

export type ProjectAgentRow = Selectable<ProjectAgentTable>;

/**
 * SQL: the key of the agent of the row `project`, from the nearest project that has one, or else the one that the
 * organization has chosen; null: none.
 */
export const agentOfProject = `coalesce(
  (select assigned.agent_key
    from unnest(string_to_array(project.hierarchy, '|')::uuid[]) with ordinality as step (id, place)
    join project_agent assigned on assigned.project_id = step.id
    order by step.place desc limit 1),
  (select chosen.agent_key from default_agent chosen where chosen.organization_id = project.organization_id))`;

/** SQL: whether an agent runs deployments of projects for which no agent was chosen. @param key SQL of its key */
export function takesOthers(key: string): string {
  return `not exists (select from project_agent busy join agent on agent.agent_key = busy.agent_key
    where busy.agent_key = ${key} and not agent.is_shared)`;
}

export async function listProjectAgents(db: Connection, organizationId: string): Promise<ProjectAgentRow[]> {
  return db.selectFrom('project_agent').selectAll().where('organization_id', '=', organizationId).execute();
}

/** @returns keys of the agents that organizations have chosen, by organization */
export async function listDefaultAgents(
  db: Connection,
  organizationIds: readonly string[],
): Promise<Map<string, string>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('default_agent')
    .selectAll()
    .where('organization_id', 'in', [...organizationIds])
    .execute();
  return new Map(rows.map((row) => [row.organization_id, row.agent_key]));
}

/** @returns the key of the agent that the organization has chosen, if any */
export async function findDefaultAgent(db: Connection, organizationId: string): Promise<string | undefined> {
  return (await listDefaultAgents(db, [organizationId])).get(organizationId);
}

export async function setDefaultAgentRow(
  tx: Connection,
  organizationId: string,
  agentKey: string | null,
): Promise<void> {
  if (agentKey === null) {
    await tx.deleteFrom('default_agent').where('organization_id', '=', organizationId).execute();
    return;
  }
  await tx
    .insertInto('default_agent')
    .values({ organization_id: organizationId, agent_key: agentKey })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ agent_key: agentKey }))
    .execute();
}

const upsert = statement(`
  insert into project_agent (project_id, organization_id, agent_key)
  select given.project_id, $1::uuid, given.agent_key from unnest($2::uuid[], $3::text[]) as given (project_id, agent_key)
  on conflict (project_id) do update set agent_key = excluded.agent_key`);

/** @param keys of the agents, by project; null: the default agent */
export async function assignProjects(
  tx: Connection,
  organizationId: string,
  keys: ReadonlyMap<string, string | null>,
): Promise<void> {
  if (keys.size > 0) await upsert(tx, organizationId, [...keys.keys()], [...keys.values()]);
}

/** The projects have the agents of the projects above. */
export async function unassignProjects(tx: Connection, projectIds: readonly string[]): Promise<void> {
  if (projectIds.length === 0) return;
  await tx
    .deleteFrom('project_agent')
    .where('project_id', '=', sql<string>`any(${[...projectIds]}::uuid[])`)
    .execute();
}

/** Those of several agents that projects have, and that therefore run no others. */
export async function agentsWithProjects(db: Connection, agentKeys: readonly string[]): Promise<Set<string>> {
  if (agentKeys.length === 0) return new Set();
  const rows = await db
    .selectFrom('agent')
    .select('agent_key')
    .where('agent_key', 'in', [...agentKeys])
    .where(sql<boolean>`not (${sql.raw(takesOthers('agent.agent_key'))})`)
    .execute();
  return new Set(rows.map((row) => row.agent_key));
}

/** Names of projects that an agent is assigned to. @param most how many */
export async function listProjectsOfAgent(db: Connection, agentKey: string, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('project_agent')
    .innerJoin('project', 'project.id', 'project_agent.project_id')
    .select('project.name')
    .where('project_agent.agent_key', '=', agentKey)
    .orderBy('project.name')
    .limit(most)
    .execute();
  return rows.map(({ name }) => name);
}

/** Whether an organization has chosen the agent for projects without one. */
export async function isChosenDefault(db: Connection, agentKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('default_agent')
    .select('organization_id')
    .where('agent_key', '=', agentKey)
    .executeTakeFirst();
  return row !== undefined;
}
