/** The end of a step's log: what a reader wants who has room for a part of it. */
import type { LogEvent } from '#contract/deployments/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { readLog, type StepRow } from '../../rows/logs/step-store.ts';
import { linesOf, wholeLinesOf } from './step-log.ts';

const newline = 0x0a;

/**
 * Number of bytes at the beginning that belong to a line that began before them; of an endless line, to a
 * character.
 */
function cutBytes(bytes: Buffer): number {
  const first = bytes.indexOf(newline);
  if (first >= 0 && first + 1 < bytes.length) return first + 1;
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(start, 0);
}

/**
 * @param maximumBytes how much is read at most
 * @returns whole lines, and whether there are others before them
 */
export async function readLogEnd(
  { db }: Pick<Context, 'db'>,
  step: StepRow,
  maximumBytes: number,
): Promise<{ events: LogEvent[]; isTruncated: boolean }> {
  const from = Math.max(0, step.log_bytes - maximumBytes);
  const slices = await readLog(db, step.id, from, maximumBytes);
  const read = Buffer.concat(slices.map(({ bytes }) => bytes));
  const cut = from === 0 ? 0 : cutBytes(read);
  const bytes = wholeLinesOf(read.subarray(cut), step);
  return { events: linesOf(bytes, from + cut, slices), isTruncated: from > 0 };
}
