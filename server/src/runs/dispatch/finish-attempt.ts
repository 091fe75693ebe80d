/** Accepts an attempt's outcome once: a repetition gets the same answer, a different one is refused. */
import type { Job } from '#protocol/messages/job.ts';
import type { AttemptTimes, FinishReply } from '#protocol/messages/outcome.ts';
import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { whyUnavailable } from '../../ground/database/unavailable.ts';
import { Refusal } from '../../ground/errors.ts';
import { type LockedDeployment, lockDeployment } from '../../rows/deployments/deployment-store.ts';
import type { ReceivedOutcome } from '../../rows/deployments/outcome-columns.ts';
import {
  type AttemptRow,
  countFinishFailure,
  endAttempt,
  getPlanningAttempt,
  lockAttempt,
  newestAttempt,
  updateAttempt,
} from '../../rows/dispatch/attempt-store.ts';
import type { AttemptInPlace } from '../../rows/dispatch/call-store.ts';
import { insertAttempt } from '../../rows/dispatch/run-store.ts';
import { getApplyJob, insertJob, setJobStatus } from '../../rows/queue/job-store.ts';
import { getStateVersionOfAttempt } from '../../rows/state/state-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';
import { levelNumber } from '../deployments/decisions/decide-level.ts';
import { finishPhase } from '../deployments/finish-phase.ts';
import { readInputs } from '../deployments/inputs/run-inputs.ts';
import { newJob } from '../queue/enqueue.ts';
import type { CallingAgent } from './authenticate-agent.ts';
import type { FinishMessage } from './finish/read-finish.ts';
import { receiveRest } from './finish/receive-rest.ts';
import { jobForAgent } from './job-for-agent.ts';
import { giveUp, loseAttempt } from './lose-attempt.ts';
import { timeOf } from './messages/parse-message.ts';
import { DispatchRefusal } from './messages/refusals.ts';

/** An outcome that could not be stored this often never will be: an agent sends it every few seconds. */
const mostFailures = 5;

function heldOf(attempt: AttemptRow) {
  return { jobId: attempt.job_id, attempt: attempt.number, fence: attempt.fence };
}

/** The apply phase, claimed for the agent that planned, in the transaction that stores the plan. */
async function handApplyOn(
  context: Context,
  agent: CallingAgent,
  { deployment, environment }: LockedDeployment,
  planned: AttemptRow,
): Promise<Job> {
  const { id: deploymentId, tool, type } = deployment;
  const level = levelNumber(deployment.level);
  const workFolder = agent.work_folder;
  const row = newJob(context, { deploymentId, type, phase: 'apply', level, tool, workFolder });
  const [job, attempt, inputs, template] = await Promise.all([
    insertJob(context.db, row),
    insertAttempt(context.db, row, agent.id, context.now()),
    readInputs(context, deploymentId),
    getTemplateRow(context.db, deployment.template_id),
  ]);
  return jobForAgent(context, { job, attempt, deployment, inputs, environment, template }, heldOf(planned));
}

/**
 * The answer to an outcome that was already taken: the apply that was handed on then, if it still is this
 * agent's.
 */
async function answerAgain(
  context: Context,
  agent: CallingAgent,
  planned: AttemptRow,
  { deployment, environment }: LockedDeployment,
): Promise<FinishReply> {
  const job = await getApplyJob(context.db, deployment.id);
  const attempt = job && (await newestAttempt(context.db, job.id));
  const newestPlan = await getPlanningAttempt(context.db, deployment.id);
  const isStillTheirs =
    job &&
    attempt &&
    newestPlan?.job_id === planned.job_id &&
    attempt.status !== 'ended' &&
    attempt.agent_process_id === agent.id;
  if (!isStillTheirs) return { next: null };
  await updateAttempt(context.db, attempt, { claimed_at: context.now(), missed_lists: 0 });
  const [inputs, template] = await Promise.all([
    readInputs(context, deployment.id),
    getTemplateRow(context.db, deployment.template_id),
  ]);
  const facts = { job, attempt, deployment, inputs, environment, template };
  return { next: await jobForAgent(context, facts, heldOf(planned)) };
}

/** Times by the agent's clock, as columns. */
function timesOf(times: AttemptTimes | null, now: Date) {
  const dateOf = (instant: string | undefined) => (instant === undefined ? null : timeOf(instant, now));
  return { received_at: dateOf(times?.receivedAt), sent_at: dateOf(times?.sentAt) };
}

type TakenOutcome = Pick<FinishMessage, 'times' | 'sha256' | 'rest'> & { readonly outcome: ReceivedOutcome };

/** @throws DispatchRefusal `fence_outdated` for an outcome of an attempt that has ended otherwise */
async function takeOutcome(
  context: Context,
  agent: CallingAgent,
  place: AttemptInPlace,
  { outcome, times, sha256, rest }: TakenOutcome,
): Promise<FinishReply> {
  return inTransaction(context, async (context) => {
    const [locked, attempt, state] = await Promise.all([
      lockDeployment(context.db, place.job.deployment_id, place.environmentId),
      lockAttempt(context.db, place.attempt),
      getStateVersionOfAttempt(context.db, place.attempt.job_id, place.attempt.number),
    ]);
    if (!locked) throw new Error(`Job ${place.job.id} has lost its deployment or environment`);
    if (attempt.status === 'ended') {
      if (attempt.outcome_sha256 !== sha256)
        throw new DispatchRefusal('fence_outdated', 'This attempt has ended with another outcome');
      return answerAgain(context, agent, attempt, locked);
    }
    await receiveRest(context, place, rest);
    if (outcome.isLost) {
      await loseAttempt(context, attempt, outcome.error?.message ?? 'its runner was killed', outcome);
      return { next: null };
    }
    const states = {
      began: attempt.state_version_id,
      stored: state?.id ?? null,
      isRescued: state?.standing === 'rescued',
    };
    const [planned] = await Promise.all([
      finishPhase(context, locked, outcome, states),
      endAttempt(context.db, attempt, sha256, context.now(), timesOf(times, context.now())),
      setJobStatus(context.db, attempt.job_id, 'done'),
    ]);
    return { next: planned && (await handApplyOn(context, agent, planned, attempt)) };
  });
}

/** Ends the deployment without its outcome, which would be sent forever; its state is kept. */
async function endWithoutOutcome(
  context: Context,
  place: AttemptInPlace,
  { sha256, rest }: Pick<FinishMessage, 'sha256' | 'rest'>,
  error: Error,
): Promise<FinishReply> {
  await inTransaction(context, (context) => receiveRest(context, place, rest)).catch((err: unknown) =>
    context.log.error({ err, jobId: place.job.id }, 'the last report cannot be stored either'),
  );
  context.log.error(
    { err: error, jobId: place.job.id },
    'outcome cannot be stored; its deployment ends without it',
  );
  await inTransaction(context, async (context) => {
    const locked = await lockDeployment(context.db, place.job.deployment_id, place.environmentId);
    const attempt = await lockAttempt(context.db, place.attempt);
    if (!locked || attempt.status === 'ended') return;
    const message = `The run has ended, but its outcome cannot be stored: ${error.message}. Its state is kept; check its log before the next deployment`;
    await giveUp(context, locked, attempt, { status: 'INTERNAL_FAILURE', message });
    await endAttempt(context.db, attempt, sha256, context.now());
  });
  return { next: null };
}

/**
 * The caller has checked agent, epoch and fence.
 * @throws DispatchRefusal `fence_outdated` for an outcome of an attempt that has ended otherwise; what
 * storing it failed with, unless
 *   it has failed too often: then the deployment ends without it
 */
export async function finishAttempt(
  context: Context,
  agent: CallingAgent,
  place: AttemptInPlace,
  { sha256, outcome, times, rest, problem }: FinishMessage,
): Promise<FinishReply> {
  try {
    if (outcome === null) throw new Refusal('bad_request', problem ?? 'The message has no outcome');
    return await takeOutcome(context, agent, place, { outcome, times, sha256, rest });
  } catch (error) {
    if (
      error instanceof DispatchRefusal ||
      whyUnavailable(error) !== null ||
      (await countFinishFailure(context.db, place.attempt)) < mostFailures
    )
      throw error;
    return endWithoutOutcome(context, place, { sha256, rest }, error as Error);
  }
}
