/** Sends one attempt to the server, from its first byte to the answer to its finish. */
import type { Job } from '#protocol/messages/job.ts';
import type { FinishRest, Outcome } from '#protocol/messages/outcome.ts';
import { deploymentSteps, type RunnableTool } from '#protocol/tools/index.ts';
import type { ServerConnection } from '../connection/connection.ts';
import { ServerRefusal } from '../connection/refusals.ts';
import { mostRawBytes } from '../logs/limit.ts';
import { patternsOf } from '../logs/mask.ts';
import type { AttemptWake } from '../processes/wake.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import { requireOutcome } from '../spool/read-attempt.ts';
import type { Completion } from './completion.ts';
import { followSignals } from './follow-signals.ts';
import { maskEvent, maskOutcome } from './mask-messages.ts';
import { shipBlobs } from './ship-blobs.ts';
import { shipMark } from './ship-mark.ts';
import { shipReports } from './ship-reports.ts';
import { type StateEnd, shipState } from './ship-state.ts';
import { createStepFilter } from './step-filter.ts';

/** Of a state, and of the blobs together; larger ones are streamed by calls of their own. */
const smallBytes = 64 * 1024;

export interface AttemptShipment {
  readonly connection: ServerConnection;
  readonly paths: SpoolPaths;
  readonly job: Job;
  readonly wake: AttemptWake;
  /** Reached once the outcome is on disk. */
  readonly completion: Completion;
  readonly isFresh: boolean;
  readonly receivedAt?: string | undefined;
  readonly signal: AbortSignal;
  readonly onAbort: (how: 'gently' | 'now') => void;
  /** Number of attempts that the agent reports on. */
  readonly countRuns: () => number;
}

/**
 * Sends everything in order: logs before the events that they belong to, the last state and the blobs before the
 * outcome, or with it.
 * @returns the apply phase that the server returns with its answer, or null
 * @throws a ServerRefusal if the server rejects the attempt; nothing is lost: the folder is still complete
 */
export async function shipAttempt(shipment: AttemptShipment): Promise<Job | null> {
  try {
    return await shipWithRest(shipment, 'small');
  } catch (error) {
    if (!(error instanceof ServerRefusal) || !mayConcernRest(error)) throw error;
    // One call for each part: then the server's answer says which one it refuses.
    return shipWithRest({ ...shipment, isFresh: false }, 'nothing');
  }
}

function mayConcernRest({ status, code }: ServerRefusal): boolean {
  return status === 400 || status === 413 || code === 'rest_incomplete';
}

/** @param left what is sent together with the outcome */
async function shipWithRest(shipment: AttemptShipment, left: 'small' | 'nothing'): Promise<Job | null> {
  const { connection, paths, job, signal } = shipment;
  // Their forms are derived with the first log or event: until then, the runner has to start.
  const { secrets } = job;
  using giveUp = followSignals(signal);
  const either = giveUp.signal;
  either.addEventListener('abort', () => shipment.wake.notify(), { once: true });
  const leftBytes = left === 'small' ? smallBytes : -1;
  const common = { paths, job, wake: shipment.wake, completion: shipment.completion, signal: either };
  const state = shipState({
    ...common,
    leftBytes,
    send: (query, bytes) => connection.putState(job, query, bytes, either),
  });
  const reports = shipReports({
    ...common,
    isFresh: shipment.isFresh,
    steps: deploymentSteps(job.tool as RunnableTool, job.type, {
      estimatesCosts: job.estimatesCosts === true,
    }),
    createFilter: () => createStepFilter(patternsOf(secrets), job.limits.stepLogBytes),
    mostRawBytes: mostRawBytes(job.limits.stepLogBytes),
    maskEvent: (event) => maskEvent(event, patternsOf(secrets)),
    send: (report) => connection.report(job, report, either),
    onAbort: shipment.onAbort,
    countRuns: shipment.countRuns,
    leavesLast: left === 'small',
  });
  const mark = shipMark({
    ...common,
    mayRepeat: job.retry !== undefined,
    send: (one) => connection.mark(job, one, either),
  });
  const blobs = shipBlobs({
    ...common,
    leftBytes,
    send: (name, sha256, file) => connection.putBlob(job, name, sha256, file, either),
  });
  const all = [state, reports, mark, blobs] as const;
  try {
    await Promise.all(all);
  } catch (error) {
    giveUp.abort(error);
    await Promise.allSettled(all);
    throw error;
  }
  const outcome = maskOutcome(withState(requireOutcome(paths), await state), patternsOf(secrets));
  const rest = restOf(await reports, (await state).left, await blobs);
  return rest === undefined
    ? finish(shipment, outcome)
    : (await connection.finish(job, outcome, { ...shipment, rest })).next;
}

/** @returns undefined where everything was sent */
function restOf(
  report: FinishRest['report'] | null,
  state: FinishRest['state'],
  blobs: readonly NonNullable<FinishRest['blobs']>[number][],
): FinishRest | undefined {
  if (report === null && state === undefined && blobs.length === 0) return undefined;
  return {
    ...(report === null ? {} : { report }),
    ...(state === undefined ? {} : { state }),
    ...(blobs.length === 0 ? {} : { blobs: [...blobs] }),
  };
}

/** A run whose state was not stored did not end well, whatever its tool reported. */
function withState(outcome: Outcome, { stateVersionId, notStored }: StateEnd): Outcome {
  if (notStored === undefined) return stateVersionId === undefined ? outcome : { ...outcome, stateVersionId };
  const reason = outcome.error ? `. The run also failed: ${outcome.error.message}` : '';
  return { ...outcome, result: 'internal', error: { ...outcome.error, message: `${notStored}${reason}` } };
}

/**
 * Results that the service cannot accept, because of their size or form, must not prevent the run from
 * ending.
 */
async function finish(shipment: AttemptShipment, outcome: Outcome): Promise<Job | null> {
  const { connection, job } = shipment;
  try {
    return (await connection.finish(job, outcome, shipment)).next;
  } catch (error) {
    if (!(error instanceof ServerRefusal) || ![400, 413].includes(error.status)) throw error;
    const message = `The run ended as ${outcome.result}, but the service refused its results: ${error.message}`;
    const { finishedAt, commit, stateVersionId } = outcome;
    const least = {
      result: 'internal',
      finishedAt,
      error: { message },
      ...(commit ? { commit } : {}),
      ...(stateVersionId ? { stateVersionId } : {}),
    } as const;
    return (await connection.finish(job, least, shipment)).next;
  }
}
