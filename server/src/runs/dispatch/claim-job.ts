/** Hands the next job to an agent: under a new attempt number and fence, waiting for one if there is none. */
import { setTimeout as delay } from 'node:timers/promises';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Job } from '#protocol/messages/job.ts';
import { variablesStep } from '#protocol/tools/steps.ts';
import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { isOfDatabase } from '../../ground/database/unavailable.ts';
import { type DeploymentRow, lockDeployment } from '../../rows/deployments/deployment-store.ts';
import { type AttemptRow, getPlanningAttempt } from '../../rows/dispatch/attempt-store.ts';
import { type ClaimedRun, type RunPlace, takeQueuedJob } from '../../rows/dispatch/claim-store.ts';
import { appendLog } from '../../rows/logs/step-store.ts';
import { resolveOutputs } from '../deployments/inputs-from-outputs/resolve-outputs.ts';
import { markStep } from '../deployments/transitions/follow-decision.ts';
import { jobsChannel } from '../queue/enqueue.ts';
import { backgroundClass } from '../queue/job-rank.ts';
import type { CallingAgent } from './authenticate-agent.ts';
import { loadJobFacts } from './job-facts.ts';
import { jobForAgent } from './job-for-agent.ts';
import { giveUp } from './lose-attempt.ts';

/** Time for which the other waiting agents leave an apply to the one that planned it and may have its tree. */
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

/** The deployment fails in the step of its variables: its code is not needed for that. */
async function endUnresolved(
  context: Context,
  attempt: AttemptRow,
  { id, environment_id }: DeploymentRow,
  message: string,
): Promise<void> {
  const found = await lockDeployment(context.db, id, environment_id);
  if (!found) throw new Error(`Deployment ${id} has lost its environment`);
  await appendLog(context.db, id, variablesStep, `Error: ${message}\n`);
  await markStep(context, found.deployment, variablesStep, 'FAIL');
  await giveUp(context, found, attempt, { status: 'FAILURE', message });
}

/** The job with the values of other environments in it, or null where it ends without them. */
async function assemble(
  context: Context,
  agent: CallingAgent,
  run: ClaimedRun & RunPlace,
): Promise<Job | null> {
  const [facts, continues] = await Promise.all([loadJobFacts(context, run), planOf(context, run.job, agent)]);
  const { deployment, environment } = facts;
  if (run.job.phase !== 'plan' || !deployment || !environment) return jobForAgent(context, facts, continues);
  const resolution = await resolveOutputs(context, { deployment, environment, inputs: facts.inputs });
  if (resolution.kind === 'resolved')
    return jobForAgent(context, { ...facts, inputs: resolution.inputs }, continues);
  await endUnresolved(context, run.attempt, deployment, resolution.message);
  return null;
}

/** @returns a job; `ended`: the next one has ended instead; null: there is none */
async function claimNext(context: Context, agent: CallingAgent): Promise<Job | 'ended' | null> {
  return inTransaction(context, async (context) => {
    const run = await takeQueuedJob(context.db, agent, {
      at: context.now(),
      lastClass: backgroundClass,
      lastClassShare: context.settings.backgroundSlotsPercent / 100,
    });
    if (!run) return null;
    const { job, attempt } = run;
    try {
      return (await assemble(context, agent, run)) ?? 'ended';
    } catch (error) {
      if (isOfDatabase(error)) throw error;
      await endUnreadable(context, attempt, job.deployment_id, error as Error);
      return 'ended';
    }
  });
}

async function claimNow(context: Context, agent: CallingAgent): Promise<Job | null> {
  for (;;) {
    const claimed = await claimNext(context, agent);
    if (claimed !== 'ended') return claimed;
  }
}

/**
 * @param waitSeconds how long the agent is ready to wait
 * @param signal ends the wait when the agent has gone
 * @returns an unclaimed job, or null
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
