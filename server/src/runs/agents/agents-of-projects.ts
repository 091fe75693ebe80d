/** Agents of projects: their own, or that of the nearest project above that has one. Pure. */

interface ProjectAgentChoice {
  readonly project_id: string;
  /** Null: the default agent. */
  readonly agent_key: string | null;
}

export interface AgentOfProject {
  readonly projectId: string;
  readonly agentKey: string;
  /** The project that the agent is assigned to. */
  readonly from: string;
}

/**
 * @param projects with their paths, from the top to themselves
 * @returns those for which an agent is assigned to them or above
 */
export function agentsOfProjects(
  projects: readonly { readonly id: string; readonly hierarchy: string }[],
  assigned: readonly ProjectAgentChoice[],
): AgentOfProject[] {
  if (assigned.length === 0) return [];
  const keys = new Map(assigned.map((row) => [row.project_id, row.agent_key]));
  return projects.flatMap(({ id: projectId, hierarchy }) => {
    const from = hierarchy.split('|').findLast((step) => keys.has(step));
    const agentKey = from === undefined ? null : (keys.get(from) ?? null);
    return from === undefined || agentKey === null ? [] : [{ projectId, agentKey, from }];
  });
}
