/**
 * The log of a step as pages of lines: addressed by byte offset, so that nothing comes twice and nothing is
 * left out.
 */
import type { LogEvent, StepLog } from '#contract/deployments/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { badField, orNotFound } from '../../ground/errors.ts';
import { getStepRow, type LogSlice, readLog, type StepRow } from '../../rows/logs/step-store.ts';

const pageBytes = 1024 * 1024;
/** A line without an end is sent in parts once it is as long as this. */
const longestHeldBytes = 64 * 1024;
const newline = 0x0a;

function offsetOf(startTime: string | undefined, step: StepRow): number {
  if (startTime === undefined || startTime === '') return 0;
  const offset = Number(startTime);
  if (!/^\d{1,15}$/.test(startTime) || offset > step.log_bytes)
    throw badField('query.startTime', 'must be a nextStartTime from an earlier page of this log');
  return offset;
}

/** Number of bytes at the end that begin a character which continues after them. */
function begunCharacter(bytes: Buffer): number {
  for (let length = 1; length <= 3; length++) {
    const byte = bytes.at(-length) ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > length ? length : 0;
  }
  return 0;
}

/**
 * Number of bytes that form whole lines; all of them once the step is over, or if a line grows too long.
 */
function wholeLines(bytes: Buffer, isComplete: boolean): number {
  const last = bytes.lastIndexOf(newline) + 1;
  if (isComplete) return bytes.length;
  return last === 0 && bytes.length >= longestHeldBytes ? bytes.length - begunCharacter(bytes) : last;
}

/** Whether nothing more is written to the log. */
function isOver({ completed_at: completedAt, status }: StepRow): boolean {
  return completedAt !== null || status === 'SKIPPED';
}

/** The lines of the end of a log that are complete; all once the step is over. */
export function wholeLinesOf(bytes: Buffer, step: StepRow): Buffer {
  return bytes.subarray(0, wholeLines(bytes, isOver(step)));
}

function timeOf(slices: readonly LogSlice[], offset: number): string {
  const slice = slices.findLast((each) => each.firstByte <= offset) ?? slices[0];
  return (slice?.storedAt ?? new Date(0)).toISOString();
}

/** Lines as events. @param from offset of the bytes in the log */
export function linesOf(bytes: Buffer, from: number, slices: readonly LogSlice[]): LogEvent[] {
  const events: LogEvent[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start);
    const stop = end < 0 ? bytes.length : end;
    const message = bytes.toString('utf8', start, stop).replace(/\r$/, '');
    events.push({
      eventId: String(from + start),
      message,
      level: 'info',
      timestamp: timeOf(slices, from + start),
    });
    start = stop + 1;
  }
  return events;
}

/**
 * @param startTime `nextStartTime` of the page before; empty or absent: from the beginning
 * @throws Refusal 404 for an unknown step, 400 for an offset that was never issued
 */
export async function readStepLog(
  context: Context,
  deploymentId: string,
  name: string,
  startTime: string | undefined,
): Promise<StepLog> {
  const step = orNotFound(await getStepRow(context.db, deploymentId, name), 'step', name);
  const from = offsetOf(startTime, step);
  const slices = await readLog(context.db, step.id, from, pageBytes);
  const read = Buffer.concat(slices.map((slice) => slice.bytes));
  const isComplete = isOver(step);
  const isLast = from + read.length >= step.log_bytes;
  const bytes = read.subarray(0, wholeLines(read, isComplete && isLast));
  const next = from + bytes.length;
  return {
    events: linesOf(bytes, from, slices),
    nextStartTime: String(next),
    hasMoreLogs: next < step.log_bytes && (isComplete || !isLast),
  };
}
