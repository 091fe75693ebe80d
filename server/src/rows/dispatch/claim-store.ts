/** SQL by which agents take jobs out of the queue. */
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { AgentScope } from '../agents/agent-scope.ts';
import type { AgentProcessRow } from '../agents/process-store.ts';
import { agentOfProject, takesOthers } from '../agents/project-agent-store.ts';
import type { JobRow } from '../queue/job-store.ts';
import type { AttemptRow } from './attempt-store.ts';

/** A job, and the attempt under which it was claimed. */
export interface ClaimedRun {
  readonly job: Pick<JobRow, 'id' | 'deployment_id' | 'phase' | 'work_folder'>;
  readonly attempt: AttemptRow;
}

/** Environment that a job runs on. */
export interface RunPlace {
  readonly environment_id: string;
  readonly template_id: string;
}

type ClaimedRow = AttemptRow & Omit<ClaimedRun['job'], 'id'> & RunPlace;

/**
 * An agent gets the jobs of its projects, and those of projects without an agent if it has none, in the order of their
 * ranks. Jobs of the last class ($9) leave slots of the process free, unless it has only one.
 * With `queued` as a parameter, the index of queued jobs would not be used. A claim waits for up to half a minute, in
 * which its agent may be deleted, its secret revoked, or its spool taken by another process.
 */
const takeQueued = statement<ClaimedRow>(`
  with next as (
    select id from job
    where status = 'queued' and tool = any($1::text[])
      and (class < $9 or (
        select count(*) from attempt a join job held on held.id = a.job_id
        where a.agent_process_id = $4 and a.status <> 'ended' and held.class >= $9
      ) < (select greatest(1, floor(p.slots * $10::numeric)) from agent_process p where p.id = $4))
      and (work_folder is null or work_folder = $2)
      and exists (
        select from deployment d join project on project.id = d.project_id
        where d.id = job.deployment_id and ($3::uuid is null or d.organization_id = $3::uuid)
          and coalesce(${agentOfProject}, (select $8 where ${takesOthers('$8')})) = $8)
    order by rank_at, id limit 1 for update skip locked
  ), admitted as (
    select next.id from next, agent_process p
    where p.id = $4 and p.epoch = $6 and not p.said_goodbye and exists (
      select from agent_secret where agent_secret.agent_key = p.agent_key and agent_secret.id = $7
        and (expires_at is null or expires_at > $5))
    for key share of p
  ), taken as (
    update job set status = 'claimed', attempts = attempts + 1 from admitted where job.id = admitted.id
    returning job.*
  ), made as (
    insert into attempt (job_id, number, fence, agent_process_id, status, claimed_at, state_version_id)
    select taken.id, taken.attempts, nextval('fence'), $4, 'claimed', $5, environment.current_state_version_id
    from taken join deployment on deployment.id = taken.deployment_id
      join environment on environment.id = deployment.environment_id
    returning *
  )
  select made.*, taken.deployment_id, taken.phase, taken.work_folder, d.environment_id, d.template_id
  from made, taken join deployment d on d.id = taken.deployment_id`);

/** A process that claims, with the secret that its token stands for. */
type Claimant = Pick<AgentProcessRow, 'id' | 'agent_key' | 'tools' | 'work_folder' | 'epoch'> &
  AgentScope & { readonly secretId: string };

/** The terms under which jobs are handed out. */
export interface ClaimTerms {
  readonly at: Date;
  /** The class of jobs that get only a share of the slots. */
  readonly lastClass: number;
  /** Of the slots of a process, from 0 to 1; at least one slot. */
  readonly lastClassShare: number;
}

/**
 * Claims the next queued job that this agent can take; others that claim at the same time skip it. An agent of
 * one organization takes only the jobs of that organization, and one that was replaced or refused since takes none.
 */
export async function takeQueuedJob(
  tx: Connection,
  agent: Claimant,
  { at, lastClass, lastClassShare }: ClaimTerms,
): Promise<(ClaimedRun & RunPlace) | undefined> {
  const { id, agent_key, tools, work_folder, onlyOrganizationId, epoch, secretId } = agent;
  const able = [tools, work_folder, onlyOrganizationId] as const;
  const [row] = await takeQueued(tx, ...able, id, at, epoch, secretId, agent_key, lastClass, lastClassShare);
  if (!row) return undefined;
  const { deployment_id, phase, work_folder: workFolder, environment_id, template_id, ...attempt } = row;
  const job = { id: attempt.job_id, deployment_id, phase, work_folder: workFolder };
  return { job, attempt, environment_id, template_id };
}
