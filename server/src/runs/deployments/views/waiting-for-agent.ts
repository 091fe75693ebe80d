/** Why no agent has claimed a job yet, in one sentence. */
import type { WaitingFor } from '#contract/deployments/plan.ts';
import type { Context } from '../../../framework/context.ts';
import { scopeOf, serves } from '../../../rows/agents/agent-scope.ts';
import {
  type AssignedAgent,
  type KnownAgents,
  loadKnownAgents,
  type ProcessAbility,
} from '../../../rows/agents/process-store.ts';
import type { JobRow } from '../../../rows/queue/job-store.ts';
import { reachableSince } from '../../agents/contact.ts';

/** A job that no agent has claimed yet. */
export type OpenJob = Pick<JobRow, 'tool' | 'work_folder' | 'created_at'>;

interface JobPlace {
  readonly organization_id: string;
  readonly project_id: string;
}

/** @param projectIds of the jobs; none: no job waits */
export async function agentsFor(context: Context, projectIds: readonly string[]): Promise<KnownAgents> {
  if (projectIds.length === 0) return { connected: [], assigned: [] };
  return loadKnownAgents(context.db, reachableSince(context), projectIds);
}

function canRun({ tool, work_folder: folder }: OpenJob, agent: ProcessAbility): boolean {
  return agent.tools.includes(tool) && (folder === null || folder === agent.work_folder);
}

function abilityOf({ tool, work_folder: folder }: OpenJob): string {
  return `run ${tool}${folder ? ` in ${folder}` : ''}`;
}

function forItsAgent(
  job: OpenJob,
  { agent_key: key, name, contact_at }: AssignedAgent,
  all: readonly ProcessAbility[],
) {
  const agent = `the agent "${name}", which runs the deployments of the project`;
  const reachable = all.filter((each) => each.agent_key === key);
  if (contact_at === null) return `Waiting for ${agent}: it was never started`;
  if (reachable.length === 0)
    return `Waiting for ${agent}: it has not been heard from since ${new Date(contact_at).toISOString()}. Start it, or check its log`;
  if (reachable.some((each) => canRun(job, each))) return `Waiting for ${agent}, to become free`;
  return `Waiting for ${agent}: it cannot ${abilityOf(job)}. Install it there, or assign another agent to the project`;
}

function forAnyAgent(job: OpenJob, organizationId: string, all: readonly ProcessAbility[]): string {
  const reachable = all.filter((agent) => agent.takes_others && serves(scopeOf(agent), organizationId));
  if (reachable.length === 0)
    return 'No agent is connected. Start one, or check the log of the agent you expected';
  if (reachable.some((agent) => canRun(job, agent))) return 'Waiting for a free agent';
  return `No connected agent can ${abilityOf(job)}: install it on one of them`;
}

/** @param place of the deployment */
export function forAnAgent(
  job: OpenJob,
  { organization_id: organizationId, project_id: projectId }: JobPlace,
  { connected, assigned }: KnownAgents,
): WaitingFor {
  const own = assigned.find((each) => each.project_id === projectId);
  return {
    kind: 'agent',
    since: job.created_at.toISOString(),
    text: own ? forItsAgent(job, own, connected) : forAnyAgent(job, organizationId, connected),
  };
}
