/** For tests: how a run ended. */
import assert from 'node:assert/strict';
import type { Ran } from './runner-setup.ts';

/** @throws an AssertionError with the outcome of a run that has another result */
export async function expectResult<Run extends Pick<Ran, 'outcome'>>(
  result: Ran['outcome']['result'],
  running: Run | Promise<Run>,
): Promise<Run> {
  const ran = await running;
  assert.equal(ran.outcome.result, result, JSON.stringify(ran.outcome));
  return ran;
}

/** The message of a run that has failed. @throws an AssertionError with the outcome of one that has not */
export function failureMessageOf({ outcome }: Pick<Ran, 'outcome'>): string {
  assert.equal(outcome.result, 'failed', JSON.stringify(outcome));
  return outcome.error?.message ?? '';
}
