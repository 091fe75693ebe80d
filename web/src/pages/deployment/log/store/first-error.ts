/** First error of a failed step. */
import { plainLines } from './plain-lines.ts';
import { batchOf, type LogPosition, type SearchedStep } from './search.ts';
import type { StepLog } from './step-log.ts';

/** The heading of an error, such as terraform's "│ Error: …". */
const heading = /^[^\p{L}\d]*(error|fatal|panic)\b/iu;
const mention = /\b(error|fatal|panic|exception|failed|failure)\b/iu;

/** @returns -1: there is none */
function firstLine(log: StepLog, regex: RegExp): number {
  let before = 0;
  for (let from = 0; from < log.bytes.length; ) {
    const bytes = batchOf(log, from, log.bytes.length);
    const lines = plainLines(bytes).split('\n');
    const found = lines.findIndex((line) => regex.test(line));
    if (found >= 0) return before + found;
    before += lines.length - 1;
    from += bytes.length;
  }
  return -1;
}

/**
 * The first line of failed steps that looks like the head of an error, else the first that mentions one, else
 * the last line of the first of them that has any.
 * @param steps those that failed
 */
export function firstError(steps: readonly SearchedStep[]): LogPosition | undefined {
  for (const regex of [heading, mention]) {
    for (const { name, log } of steps) {
      const line = firstLine(log, regex);
      if (line >= 0) return { step: name, line };
    }
  }
  const last = steps.find(({ log }) => log.lineCount > 0);
  return last && { step: last.name, line: last.log.lineCount - 1 };
}
