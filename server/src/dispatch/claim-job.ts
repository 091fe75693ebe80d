/** Hands the next job to an agent: under a new attempt number and fence, waiting for one if there is none. */
import { setTimeout as delay } from 'node:timers/promises';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Context } from '../context.ts';
import { inTransaction, sqlState } from '../database/transaction.ts';
import { lockDeployment } from '../deployments/deployment-store.ts';
import { jobsChannel } from '../queue/enqueue.ts';
import { type AttemptRow, getPlanningAttempt } from './attempt-store.ts';
import type { CallingAgent } from './authenticate-agent.ts';
import { jobForAgent } from './job-for-agent.ts';
import { loadJobFacts } from './job-facts.ts';
import { giveUp } from './lose-attempt.ts';
import { type ClaimedRun, takeQueuedJob } from './run-store.ts';

/** How long the other waiting agents leave an apply to the one that planned it and may have its tree. */
const precedenceMilliseconds = 100;
/** A waiting claim checks this often anyway, in case a notice was lost. */
const floorMilliseconds = 5_000;

/**
 * A job that cannot be assembled fails its deployment: left in the queue, it would delay all that come after
 * it.
 */
async function endUnreadable(
  context: Context,
  attempt: AttemptRow,
  deploymentId: string,
  error: Error,
): Promise<void> {
  context.log.error({ err: error, jobId: attempt.job_id }, 'job cannot be assembled; its deployment fails');
  const found = await lockDeployment(context.db, deploymentId);
  if (!found) throw error;
  const message = `The data that the run needs cannot be read: ${error.message}`;
  await giveUp(context, found, attempt, {
    status: 'INTERNAL_FAILURE',
    message,
  });
}

/** The attempt that planned what a job applies, if this agent held it. */
async function planOf(
  context: Context,
  job: ClaimedRun['job'],
  agent: CallingAgent,
): Promise<HeldAttempt | null> {
  const planned = job.phase === 'apply' ? await getPlanningAttempt(context.db, job.deployment_id) : undefined;
  if (planned?.agent_process_id !== agent.id) return null;
  return { jobId: planned.job_id, attempt: planned.number, fence: planned.fence };
}

async function claimNow(context: Context, agent: CallingAgent): Promise<Job | null> {
  return inTransaction(context, async (context) => {
    const run = await takeQueuedJob(context.db, agent, context.now());
    if (!run) return null;
    const { job, attempt } = run;
    try {
      const [facts, continues] = await Promise.all([
        loadJobFacts(context.db, run),
        planOf(context, job, agent),
      ]);
      return await jobForAgent(context, facts, continues);
    } catch (error) {
      if (sqlState(error) !== '') throw error;
      await endUnreadable(context, attempt, job.deployment_id, error as Error);
      return null;
    }
  });
}

/**
 * @param waitSeconds how long the agent is ready to wait
 * @param signal ends the wait when the agent has gone
 * @returns a job that nobody else has, or null
 */
export async function claimJob(
  context: Context,
  agent: CallingAgent,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<Job | null> {
  const until = context.now().getTime() + waitSeconds * 1000;
  const left = () => until - context.now().getTime();
  for (;;) {
    // Subscribed before looking, so that a job enqueued in between wakes the wait.
    const woken = context.events.waitFor(jobsChannel, {
      signal,
      milliseconds: Math.max(0, Math.min(floorMilliseconds, left())),
    });
    const job = signal.aborted ? null : await claimNow(context, agent);
    if (job || signal.aborted || left() <= 0) return job;
    const preferred = await woken;
    if (preferred !== '' && preferred !== agent.id) await delay(precedenceMilliseconds);
  }
}
