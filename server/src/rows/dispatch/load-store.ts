/** SQL of how busy agents are: what they run, and what waits for them. */
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import { agentOfProject } from '../agents/project-agent-store.ts';

/** Queued jobs of an organization that wait for the same. */
export interface WaitingJobs {
  readonly organization_id: string;
  /** The agent of their projects; null: any that takes jobs of projects without an agent. */
  readonly agent_key: string | null;
  readonly tool: string;
  readonly work_folder: string | null;
  readonly count: number;
  readonly oldest_at: Date;
}

const selectWaiting = statement<WaitingJobs>(`
  select organization_id, agent_key, tool, work_folder, count(*)::integer as count, min(created_at) as oldest_at
  from (
    select d.organization_id, ${agentOfProject} as agent_key, job.tool, job.work_folder, job.created_at
    from job join deployment d on d.id = job.deployment_id join project on project.id = d.project_id
    where job.status = 'queued' and d.organization_id = any($1::uuid[])
  ) as waiting group by organization_id, agent_key, tool, work_folder`);

export async function listWaitingJobs(
  db: Connection,
  organizationIds: readonly string[],
): Promise<WaitingJobs[]> {
  return organizationIds.length === 0 ? [] : selectWaiting(db, [...new Set(organizationIds)]);
}

const selectRunning = statement<{ agent_key: string; count: number }>(`
  select p.agent_key, count(*)::integer as count
  from attempt join agent_process p on p.id = attempt.agent_process_id
  where attempt.status <> 'ended' and p.agent_key = any($1::text[]) group by p.agent_key`);

/** @returns how many attempts agents have, by key; those with none are missing */
export async function countRunning(
  db: Connection,
  agentKeys: readonly string[],
): Promise<Map<string, number>> {
  const rows = agentKeys.length === 0 ? [] : await selectRunning(db, [...agentKeys]);
  return new Map(rows.map((row) => [row.agent_key, row.count]));
}

const selectLong = statement<{ organization_id: string; count: number }>(`
  select d.organization_id, count(*)::integer as count
  from job join deployment d on d.id = job.deployment_id
  where job.status = 'queued' and job.created_at < $1 group by d.organization_id`);

/** @returns how many jobs have waited since before a time, by organization; those with none are missing */
export async function countWaitingSince(db: Connection, before: Date): Promise<Map<string, number>> {
  return new Map((await selectLong(db, before)).map((row) => [row.organization_id, row.count]));
}
