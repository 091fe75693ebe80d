/**
 * Compares what an agent reports to hold with what it should hold: an attempt missing from two lists is lost.
 */
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Connection, Context } from '../context.ts';
import { listOpenAttempts, updateAttempt } from './attempt-store.ts';
import { loseAttempt } from './lose-attempt.ts';
import { openFences } from './run-store.ts';

const listsUntilLost = 2;

function isHeld(held: readonly HeldAttempt[], attempt: { job_id: string; number: number }): boolean {
  return held.some((each) => each.jobId === attempt.job_id && each.attempt === attempt.number);
}

/** Held attempts whose fence no longer counts. */
async function unwantedOf(
  tx: Connection,
  agentProcessId: string,
  held: readonly HeldAttempt[],
): Promise<HeldAttempt[]> {
  const wanted = await openFences(
    tx,
    agentProcessId,
    held.map((each) => each.fence),
  );
  return held.filter((each) => !wanted.has(each.fence));
}

/** @returns the held attempts that the server no longer wants */
export async function compareHeld(
  context: Context,
  agentProcessId: string,
  held: readonly HeldAttempt[],
): Promise<HeldAttempt[]> {
  for (const attempt of await listOpenAttempts(context.db, agentProcessId)) {
    const missed = isHeld(held, attempt) ? 0 : attempt.missed_lists + 1;
    if (missed === attempt.missed_lists) continue;
    await updateAttempt(context.db, attempt, { missed_lists: missed });
    if (missed >= listsUntilLost) await loseAttempt(context, attempt, 'its agent no longer has it');
  }
  return unwantedOf(context.db, agentProcessId, held);
}
