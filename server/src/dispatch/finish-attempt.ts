/** Takes an attempt's outcome, once: the same one again gets the same answer, another is refused. */
import { createHash } from 'node:crypto';
import type { FinishReply, FinishRequest, Job } from '#protocol/messages.ts';
import type { Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { lockDeploymentRow } from '../environments/deployment-store.ts';
import { lockEnvironmentRow } from '../environments/environment-store.ts';
import { finishPhase } from '../environments/finish-phase.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { getStateVersionOfAttempt } from '../state/state-store.ts';
import { type AgentProcessRow, type AttemptInPlace, type AttemptRow, endAttempt, insertAttempt, newestAttempt } from './attempt-store.ts';
import { jobForAgent } from './job-for-agent.ts';
import { loseAttempt } from './lose-attempt.ts';
import { DispatchRefusal } from './refusals.ts';

function heldOf(attempt: AttemptRow) {
  return { jobId: attempt.job_id, attempt: attempt.number, fence: attempt.fence };
}

/** The apply phase, claimed for the agent that planned, in the transaction that stores the plan. */
async function handApplyOn(
  tx: Connection,
  context: Context,
  agent: AgentProcessRow,
  deploymentId: string,
  tool: string,
  planned: AttemptRow,
): Promise<Job> {
  const id = await enqueueJob(tx, context, { deploymentId, phase: 'apply', tool, workFolder: agent.work_folder });
  const job = await tx.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const attempt = await insertAttempt(tx, job, agent.id, context.now());
  return jobForAgent(tx, context, { ...job, attempts: attempt.number }, attempt, heldOf(planned));
}

/** The answer to an outcome that was already taken: the apply that was handed on then, if it still is this agent's. */
async function answerAgain(
  tx: Connection,
  context: Context,
  agent: AgentProcessRow,
  planned: AttemptRow,
  deploymentId: string,
): Promise<FinishReply> {
  const job = await tx
    .selectFrom('job')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .where('phase', '=', 'apply')
    .executeTakeFirst();
  const attempt = job && (await newestAttempt(tx, job.id));
  const isStillTheirs = job && attempt && job.id !== planned.job_id && attempt.status !== 'ended' && attempt.agent_process_id === agent.id;
  return { next: isStillTheirs ? await jobForAgent(tx, context, job, attempt, heldOf(planned)) : null };
}

/**
 * The caller has checked agent, epoch and fence.
 * @throws DispatchRefusal `fence_outdated` for an outcome of an attempt that has ended otherwise
 */
export async function finishAttempt(
  context: Context,
  agent: AgentProcessRow,
  place: AttemptInPlace,
  request: FinishRequest,
): Promise<FinishReply> {
  const sha256 = createHash('sha256').update(JSON.stringify(request.outcome)).digest('hex');
  return inTransaction(context.db, async (tx) => {
    const environment = await lockEnvironmentRow(tx, place.environmentId);
    const attempt = await tx
      .selectFrom('attempt')
      .selectAll()
      .where('job_id', '=', place.attempt.job_id)
      .where('number', '=', place.attempt.number)
      .executeTakeFirstOrThrow();
    const deployment = await lockDeploymentRow(tx, place.job.deployment_id);
    if (!environment || !deployment) throw new Error(`Job ${place.job.id} has lost its deployment or environment`);
    if (attempt.status === 'ended') {
      if (attempt.outcome_sha256 !== sha256) throw new DispatchRefusal('fence_outdated', 'This attempt has ended with another outcome');
      return answerAgain(tx, context, agent, attempt, deployment.id);
    }
    if (request.outcome.isLost) {
      await loseAttempt(tx, context, attempt, request.outcome.error?.message ?? 'its runner was killed', request.outcome);
      return { next: null };
    }
    await endAttempt(tx, attempt, sha256, context.now());
    await tx.updateTable('job').set({ status: 'done' }).where('id', '=', attempt.job_id).execute();
    const state = await getStateVersionOfAttempt(tx, attempt.job_id, attempt.number);
    const decision = await finishPhase(tx, context, environment, deployment, request.outcome, {
      began: attempt.state_version_id,
      stored: state?.id ?? null,
      isRescued: state?.standing === 'rescued',
    });
    if (decision.kind !== 'apply') return { next: null };
    return { next: await handApplyOn(tx, context, agent, deployment.id, deployment.blueprint_type, attempt) };
  });
}
