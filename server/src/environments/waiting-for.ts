/** Why a deployment does not move, in one sentence. */
import type { DeploymentStatus } from '#contract/enumerations.ts';
import type { WaitingFor } from '#contract/plan.ts';
import type { Connection, Context } from '../context.ts';
import { giveUpAfterSeconds, unreachableAfterSeconds } from '../agents/contact.ts';
import { waitsFor } from './queue-order.ts';
import { type DeploymentRow, openDeployments } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';

function plannedInWords(row: DeploymentRow): string {
  const summary = row.plan_summary;
  return summary ? `${summary.added} to add, ${summary.changed} to change, ${summary.destroyed} to destroy` : 'its plan';
}

function approval(row: DeploymentRow): WaitingFor {
  const since = row.updated_at.toISOString();
  return { kind: 'approval', since, text: `Waiting since ${since} for a person to approve or refuse: ${plannedInWords(row)}` };
}

async function queued(db: Connection, row: DeploymentRow, environment: EnvironmentRow): Promise<WaitingFor | null> {
  const since = row.queued_at.toISOString();
  if (environment.is_locked) {
    const reason = environment.lock_reason ? `: ${environment.lock_reason}` : '';
    return { kind: 'lock', since: (environment.locked_at ?? row.queued_at).toISOString(), text: `The environment is locked${reason}` };
  }
  const open = await openDeployments(db, environment.id);
  const ahead = waitsFor(
    row,
    open.map((each) => ({ id: each.id, type: each.type, status: each.status as DeploymentStatus })),
  );
  if (!ahead) return null;
  return { kind: 'deployment', id: ahead.id, since, text: `Queued behind the ${ahead.type} ${ahead.id}, which is ${ahead.status}` };
}

/** An agent that has the run but is silent, or that nobody has taken the job yet. */
async function onAgent(db: Connection, context: Context, row: DeploymentRow): Promise<WaitingFor | null> {
  const job = await db.selectFrom('job').selectAll().where('deployment_id', '=', row.id).where('status', '<>', 'done').executeTakeFirst();
  if (!job) return null;
  if (job.status === 'queued') {
    const since = job.created_at.toISOString();
    const reachable = await db
      .selectFrom('agent_process')
      .select(['hostname', 'tools', 'work_folder'])
      .where('contact_at', '>', new Date(context.now().getTime() - unreachableAfterSeconds * 1000))
      .where('said_goodbye', '=', false)
      .execute();
    if (reachable.length === 0)
      return { kind: 'agent', since, text: 'No agent is connected: start one, or look at the log of the one that should be' };
    const fit = reachable.filter(
      (agent) => agent.tools.includes(job.tool) && (job.work_folder === null || job.work_folder === agent.work_folder),
    );
    if (fit.length === 0)
      return {
        kind: 'agent',
        since,
        text: `No connected agent can run ${job.tool}${job.work_folder ? ` in ${job.work_folder}` : ''}: install it on one of them`,
      };
    return { kind: 'agent', since, text: 'Waiting for a free agent' };
  }
  const holder = await db
    .selectFrom('attempt')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .select(['agent_process.id', 'agent_process.hostname', 'agent_process.contact_at'])
    .where('attempt.job_id', '=', job.id)
    .where('attempt.status', '<>', 'ended')
    .orderBy('attempt.number', 'desc')
    .executeTakeFirst();
  if (!holder || context.now().getTime() - holder.contact_at.getTime() < unreachableAfterSeconds * 1000) return null;
  const since = holder.contact_at.toISOString();
  const until = new Date(holder.contact_at.getTime() + giveUpAfterSeconds(context.settings) * 1000).toISOString();
  return {
    kind: 'agent',
    id: holder.id,
    since,
    text: `The agent on ${holder.hostname} has not been heard of since ${since}; the run is given up at ${until}`,
  };
}

/** @returns null where nothing is waited for */
export async function waitingFor(
  db: Connection,
  context: Context,
  row: DeploymentRow,
  environment: EnvironmentRow,
): Promise<WaitingFor | null> {
  if (row.status === 'WAITING_FOR_USER') return approval(row);
  if (row.status === 'QUEUED') return queued(db, row, environment);
  if (row.status === 'IN_PROGRESS' || row.status === 'ABORTING') return onAgent(db, context, row);
  return null;
}
