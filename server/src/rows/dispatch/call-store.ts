/** SQL of a call to the agent protocol: who calls, and about which attempt, in one statement. */

import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { AgentProcessRow } from '../agents/process-store.ts';
import type { JobRow } from '../queue/job-store.ts';
import type { AttemptKey, AttemptRow } from './attempt-store.ts';

/** Facts for checks of a call to the agent protocol. */
export interface CallRow {
  readonly organization_id: string;
  readonly is_shared: boolean;
  /** Ids of the secrets of the key that have not ended. */
  readonly secrets: readonly string[];
  readonly process: CallingProcess | null;
  readonly attempt: CalledAttempt | null;
  readonly job: CalledJob | null;
  readonly environment_id: string | null;
  readonly deployment_organization_id: string | null;
}

/** The process that calls. */
export type CallingProcess = Pick<
  AgentProcessRow,
  'id' | 'agent_key' | 'epoch' | 'hostname' | 'tools' | 'work_folder'
> & { readonly registered_at: string };

/** The attempt that a call is about, before anything is locked. */
export type CalledAttempt = Pick<AttemptRow, 'job_id' | 'number' | 'fence' | 'agent_process_id' | 'status'>;
export type CalledJob = Pick<JobRow, 'id' | 'deployment_id' | 'attempts'>;

/** An attempt with its job and what of its deployment every call about it needs. */
export interface AttemptInPlace {
  readonly attempt: CalledAttempt;
  readonly job: CalledJob;
  readonly environmentId: string;
  readonly organizationId: string;
}

const selectCall = statement<CallRow>(`
  select agent.organization_id, agent.is_shared,
    array(select id::text from agent_secret where agent_secret.agent_key = agent.agent_key
      and (expires_at is null or expires_at > $5)) as secrets,
    case when p.id is null then null else json_build_object('id', p.id, 'agent_key', p.agent_key,
      'epoch', p.epoch, 'hostname', p.hostname, 'tools', p.tools, 'work_folder', p.work_folder,
      'registered_at', p.registered_at) end as process,
    case when a.job_id is null then null else json_build_object('job_id', a.job_id, 'number', a.number,
      'fence', a.fence, 'agent_process_id', a.agent_process_id, 'status', a.status) end as attempt,
    case when j.id is null then null else json_build_object('id', j.id, 'deployment_id', j.deployment_id,
      'attempts', j.attempts) end as job,
    d.environment_id, d.organization_id as deployment_organization_id
  from agent
  left join agent_process p on p.id = $2::uuid
  left join attempt a on a.job_id = $3::uuid and a.number = $4::integer
  left join job j on j.id = a.job_id
  left join deployment d on d.id = j.deployment_id
  where agent.agent_key = $1`);

/** Caller and its attempt, in one statement. @returns undefined for an unknown key */
export async function findCall(
  db: Connection,
  agentKey: string,
  agentProcessId: string | null,
  attempt: AttemptKey | null,
  now: Date,
): Promise<CallRow | undefined> {
  const rows = await selectCall(
    db,
    agentKey,
    agentProcessId,
    attempt?.job_id ?? null,
    attempt?.number ?? null,
    now,
  );
  return rows[0];
}
