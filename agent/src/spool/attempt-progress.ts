/** Progress of an attempt of an earlier agent process. */
import { existsSync } from 'node:fs';
import type { FoundAttempt } from './open-spool.ts';
import { readMark, readOutcome, readSlotRecord } from './read-attempt.ts';

/** Whether an apply can only start in the tree of its plan. */
export function needsTree(one: FoundAttempt): boolean {
  const { paths, job } = one;
  // One with a mark is never started again.
  const isOpen = isNotStarted(one) && readMark(paths) === null && readOutcome(paths) === null;
  return isOpen && job.phase === 'apply' && !existsSync(paths.inputTree);
}

export function isNotStarted({ paths }: FoundAttempt): boolean {
  return readSlotRecord(paths) === null;
}
