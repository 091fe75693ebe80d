/** Stores the report and the blobs that an agent sends together with an outcome. */
import type { FinishRest } from '#protocol/messages/outcome.ts';
import type { Context } from '../../../framework/context.ts';
import type { AttemptInPlace } from '../../../rows/dispatch/call-store.ts';
import { putBlob } from '../blobs/attempt-blobs.ts';
import { DispatchRefusal } from '../messages/refusals.ts';
import { receiveReport } from '../reports/receive-report.ts';

/**
 * Stores the last report and the blobs, as by calls of their own. The caller has checked agent, epoch and fence.
 * @param context with the transaction that stores the outcome as its `db`
 * @throws DispatchRefusal `rest_incomplete` where reports before this one are missing, and what the calls of the
 *   parts throw: the agent then makes these calls, and finishes without a rest
 */
export async function receiveRest(
  context: Context,
  place: AttemptInPlace,
  { report, blobs = [] }: Omit<FinishRest, 'state'>,
): Promise<void> {
  if (report) await storeReport(context, place, report);
  await Promise.all(
    blobs.map(({ name, sha256, base64 }) =>
      putBlob(context, place, name, inOnePart(Buffer.from(base64, 'base64')), sha256),
    ),
  );
}

async function* inOnePart(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function storeReport(
  context: Context,
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
