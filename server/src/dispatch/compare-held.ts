/**
 * Compares what an agent reports to hold with what it should hold: an attempt missing from two lists is lost.
 */
import { sql } from 'kysely';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Connection, Context } from '../context.ts';
import { loseAttempt } from './lose-attempt.ts';

const listsUntilLost = 2;

function isHeld(held: readonly HeldAttempt[], attempt: { job_id: string; number: number }): boolean {
  return held.some((each) => each.jobId === attempt.job_id && each.attempt === attempt.number);
}

/** Held attempts whose fence no longer counts. */
async function unwantedOf(tx: Connection, held: readonly HeldAttempt[]): Promise<HeldAttempt[]> {
  if (held.length === 0) return [];
  const open = await tx
    .selectFrom('attempt')
    .select('fence')
    .where(
      'fence',
      'in',
      held.map((each) => each.fence),
    )
    .where('status', '<>', 'ended')
    .execute();
  const wanted = new Set(open.map((row) => row.fence));
  return held.filter((each) => !wanted.has(each.fence));
}

/** @returns the held attempts that the server no longer wants */
export async function compareHeld(
  context: Context,
  agentProcessId: string,
  held: readonly HeldAttempt[],
): Promise<HeldAttempt[]> {
  const open = await context.db
    .selectFrom('attempt')
    .selectAll()
    .where('agent_process_id', '=', agentProcessId)
    .where('status', '<>', 'ended')
    .execute();
  for (const attempt of open) {
    const missed = isHeld(held, attempt) ? 0 : attempt.missed_lists + 1;
    if (missed === attempt.missed_lists) continue;
    await context.db
      .updateTable('attempt')
      .set({ missed_lists: sql`${missed}` })
      .where('job_id', '=', attempt.job_id)
      .where('number', '=', attempt.number)
      .execute();
    if (missed >= listsUntilLost) await loseAttempt(context, attempt, 'its agent no longer has it');
  }
  return unwantedOf(context.db, held);
}
