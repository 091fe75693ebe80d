/** Stores what an agent sends together with an outcome, before the outcome. */
import type { FinishRest } from '#protocol/messages/outcome.ts';
import type { ActorContext } from '../../context.ts';
import { receiveState } from '../../state/receive-state.ts';
import { putBlob } from '../blobs/attempt-blobs.ts';
import type { AttemptInPlace } from '../call-store.ts';
import { DispatchRefusal } from '../refusals.ts';
import { receiveReport } from '../reports/receive-report.ts';

/**
 * Each part is stored as by the call of its own; what is sent twice counts once. The caller has checked agent,
 * epoch and fence.
 * @throws DispatchRefusal `rest_incomplete` where reports before this one are missing, and what the calls of the
 *   parts throw: the agent then makes these calls, and finishes without a rest
 */
export async function receiveRest(
  context: ActorContext,
  place: AttemptInPlace,
  { report, state, blobs = [] }: FinishRest,
): Promise<void> {
  // Its outcome is known, and everything was stored before that.
  if (place.attempt.status === 'ended') return;
  await Promise.all([
    report && storeReport(context, place, report),
    state && storeState(context, place, state),
    ...blobs.map(({ name, sha256, base64 }) =>
      putBlob(context, place, name, inOnePart(bytesOf(base64)), sha256),
    ),
  ]);
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

async function* inOnePart(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function storeReport(
  context: ActorContext,
  place: AttemptInPlace,
  report: NonNullable<FinishRest['report']>,
): Promise<void> {
  const stored = await receiveReport(context, place, { ...report, fence: place.attempt.fence });
  const hasAll =
    stored.events >= report.eventsFrom + report.events.length &&
    report.logs.every(
      ({ step, offset, base64 }) => (stored.logs[step] ?? 0) >= offset + Buffer.byteLength(base64, 'base64'),
    );
  if (!hasAll)
    throw new DispatchRefusal(
      'rest_incomplete',
      'The service lacks reports before the last one: send them first',
    );
}

async function storeState(
  context: ActorContext,
  { job, attempt, environmentId }: AttemptInPlace,
  { follows, sha256, base64 }: NonNullable<FinishRest['state']>,
): Promise<void> {
  await receiveState(context, {
    environmentId,
    deploymentId: job.deployment_id,
    jobId: job.id,
    attempt: attempt.number,
    follows,
    sha256,
    bytes: bytesOf(base64),
    isFinal: true,
  });
}
