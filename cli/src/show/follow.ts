/** Follows a deployment: its log live, its steps with their durations, and its result. */
import pRetry from 'p-retry';
import { ApiError } from '#contract/client/client.ts';
import { isTemporary } from '#contract/client/temporary-errors.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import type { DeploymentStreamEvent } from '#contract/feeds/shapes.ts';
import type { DeploymentStatus, StepStatus } from '#contract/schema/enumerations.ts';
import type { FollowFlags } from '../call/follow-flags.ts';
import { type ExitCode, exitCodeOfStatus, exitCodeOfStep, exitCodes } from '../session/exit-codes.ts';
import { type CommandSession, tell } from '../session/session.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { plain } from '../terminal/safe-text.ts';
import { EventPrinter, isOver, type ShownEvents, waitText } from './event-printer.ts';
import { approvalStep, showResult } from './show-deployment.ts';

export interface FollowOptions extends ShownEvents {
  /** Shows only what it waits for before the result. */
  readonly isQuiet?: boolean;
  /** Shows nothing at the end: the caller does. */
  readonly hasNoResult?: boolean;
  /** Approves the plan as soon as it is ready: the one that was made, and no other. */
  readonly approve?: boolean;
  /** Stops as soon as it is approved. */
  readonly untilApproved?: boolean;
  /** The status that the deployment had last. */
  readonly status?: DeploymentStatus;
}

/** A deployment that is being followed. */
interface DeploymentToFollow {
  readonly id: string;
  readonly options: FollowOptions;
  readonly signal: AbortSignal;
  /** The last status that the service has reported. */
  status: DeploymentStatus | undefined;
  /** End of the step that is followed. */
  stepEnd?: StepStatus;
  /** Hashes of the plans that were approved. */
  readonly approved: Set<string | undefined>;
}

/** Limit for one answer: a minute, after up to a minute of waiting for a rate limit. */
const answerSeconds = 120;

/** @throws ApiError also where a connection brings no answer */
async function answered<T>(ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  const limit = AbortSignal.timeout(answerSeconds * 1000);
  try {
    return await ask(AbortSignal.any([signal, limit]));
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    const message = `The service has not answered within ${answerSeconds} s`;
    throw new ApiError(0, { code: 'unreachable', message }, { cause: error });
  }
}

/** Repeats a request while the service is unreachable for a moment, as during a restart. @throws ApiError */
function patiently<T>(ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return pRetry(() => answered(ask, signal), {
    retries: Number.POSITIVE_INFINITY,
    maxRetryTime: 30_000,
    minTimeout: 500,
    factor: 1,
    signal,
    shouldRetry: ({ error }) => isTemporary(error),
  });
}

/** The status at this moment, and the plan. */
function statusOf(session: CommandSession, { id, signal }: DeploymentToFollow) {
  const query = { fields: 'status,planHash' };
  return patiently(
    (signal) => session.client.call('getDeployment', { params: { id }, query, signal }),
    signal,
  );
}

/**
 * Approves a plan, unless it has done so before: then policies require another user.
 * @returns whether the deployment still waits
 */
async function waitsForOthers(
  session: CommandSession,
  followed: DeploymentToFollow,
  planHash: string | undefined,
): Promise<boolean> {
  const { id, approved, signal } = followed;
  if (approved.has(planHash)) return true;
  approved.add(planHash);
  try {
    await session.client.call('approveDeployment', { params: { id }, body: { planHash }, signal });
    return false;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    // Another user was faster, or this caller may not approve the plan.
    const { status } = await statusOf(session, followed);
    if (status === 'WAITING_FOR_USER') tell(plain(error.message));
    return status === 'WAITING_FOR_USER';
  }
}

/**
 * Whether nothing more happens for now: the followed step has ended, the plan is waiting for approval at this moment,
 * or it needs none and nothing else was to be waited for.
 */
async function isEnough(
  session: CommandSession,
  followed: DeploymentToFollow,
  event: DeploymentStreamEvent,
): Promise<boolean> {
  const { step, approve, untilApproved } = followed.options;
  if (event.event === 'step') {
    const isFollowed = event.data.name === (step ?? (untilApproved ? approvalStep : undefined));
    if (!isFollowed || !isOver(event.data)) return false;
    if (step !== undefined) followed.stepEnd = event.data.status;
    return true;
  }
  if (event.event !== 'status' || event.data.status !== 'WAITING_FOR_USER') return false;
  // The stream repeats the whole history: the plan may have been approved long ago.
  const { status, planHash } = await statusOf(session, followed);
  if (status !== 'WAITING_FOR_USER' || !approve) return status === 'WAITING_FOR_USER';
  return (await waitsForOthers(session, followed, planHash)) || untilApproved === true;
}

/** Reports each wait once, on standard error: nothing else is shown before the result. */
function waitReporter(): (event: DeploymentStreamEvent) => void {
  let last = '';
  return (event) => {
    const text = event.event === 'status' ? waitText(event.data) : '';
    if (text !== '' && text !== last) tell(text);
    if (text !== '') last = text;
  };
}

/** Whether an event is about the step that is followed, or there is none. */
function isAbout(step: string | undefined, event: DeploymentStreamEvent): boolean {
  if (step === undefined) return true;
  if (event.event === 'log') return event.data.step === step;
  return event.event === 'step' && event.data.name === step;
}

async function showEvents(session: CommandSession, followed: DeploymentToFollow): Promise<void> {
  const { id, options, signal } = followed;
  const printer = new EventPrinter(session.output, options);
  const reportWait = waitReporter();
  try {
    for await (const event of session.client.stream('streamDeployment', { params: { id }, signal })) {
      if (event.event === 'status') followed.status = event.data.status;
      if (options.isQuiet) reportWait(event);
      else if (session.isJson) {
        if (isAbout(options.step, event)) await session.output.json(event, true);
      } else await printer.print(event);
      if (await isEnough(session, followed, event)) break;
    }
  } finally {
    await printer.end();
  }
}

async function followUntilEnd(session: CommandSession, followed: DeploymentToFollow): Promise<ExitCode> {
  const { id, options, signal } = followed;
  await showEvents(session, followed);
  const { stepEnd } = followed;
  if (stepEnd !== undefined && !session.isJson) return exitCodeOfStep(stepEnd);
  const deployment: Deployment = await patiently(
    (signal) => session.client.call('getDeployment', { params: { id }, signal }),
    signal,
  );
  if (options.hasNoResult) return exitCodeOfStatus(deployment.status);
  if (session.isJson && options.isQuiet) await session.output.json(deployment);
  else if (session.isJson) await session.output.json({ event: 'deployment', data: deployment }, true);
  else if (options.step === undefined) await showResult(session, id, deployment);
  return stepEnd === undefined ? exitCodeOfStatus(deployment.status) : exitCodeOfStep(stepEnd);
}

/**
 * Ways to resume, and to end the deployment: deployments that have not begun, or wait for approval, are
 * cancelled.
 */
function interruptedText({ id, status }: DeploymentToFollow): string {
  const canCancel = status === 'QUEUED' || status === 'WAITING_FOR_USER';
  const [state, end] = canCancel
    ? [
        status === 'QUEUED' ? 'stays queued' : 'still waits for approval',
        `Cancel it:        envarium cancel ${id}`,
      ]
    : ['continues', `Abort it:         envarium abort ${id}`];
  return `Stopped following: the deployment ${state}.\nFollow it again:  envarium logs ${id} --follow\n${end}`;
}

/**
 * Follows a deployment until it is over or waits for approval. Ctrl-C stops following, not the deployment;
 * a second one ends the program at once.
 * @param id of the deployment
 * @returns the exit status: of the result of the deployment, or of the step that is followed; 130 after Ctrl-C
 * @throws ApiError
 */
export async function follow(
  session: CommandSession,
  id: string,
  options: FollowOptions = {},
): Promise<ExitCode> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const followed: DeploymentToFollow = { id, options, signal, status: options.status, approved: new Set() };
  const onInterrupt = () => interrupt.abort();
  currentProcess().once('SIGINT', onInterrupt);
  try {
    return await followUntilEnd(session, followed);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    tell(interruptedText(followed));
    return exitCodes.interrupted;
  } finally {
    currentProcess().off('SIGINT', onInterrupt);
  }
}

/** Continuation after the start of a deployment. */
export interface StartFlags extends FollowFlags {
  /** Approves its plan as soon as it is ready, whatever demands the approval. */
  readonly approve?: boolean;
}

/**
 * Shows a deployment that was just started, and follows it or waits for it if the flags say so.
 * @returns the exit status
 */
export async function showStarted(
  session: CommandSession,
  deployment: Deployment & { id: string },
  environmentName: string,
  { follow: isFollowed = false, wait: isAwaited = false, approve = false }: StartFlags,
): Promise<ExitCode> {
  const { id, type, status, waitingFor } = deployment;
  const untilApproved = approve && !isFollowed && !isAwaited;
  const options = { isQuiet: !isFollowed, status, approve, untilApproved };
  if (session.isJson && (isAwaited || untilApproved)) return follow(session, id, options);
  if (session.isJson)
    await session.output.json(
      isFollowed ? { event: 'deployment', data: deployment } : deployment,
      isFollowed,
    );
  else await session.output.line(`${type} ${session.output.style('bold', id)} of ${plain(environmentName)}`);
  if (isFollowed || isAwaited || untilApproved) return follow(session, id, options);
  if (session.isJson) return exitCodes.good;
  await session.output.line(`It is ${status}${waitingFor ? `: ${plain(waitingFor.text)}` : ''}`);
  await session.output.line(`Follow it:  envarium logs ${id} --follow`);
  return exitCodes.good;
}
