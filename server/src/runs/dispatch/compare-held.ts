/**
 * Compares what an agent reports to hold with what it should hold: an attempt missing from two lists is lost,
 * once the answer that handed it over can no longer reach the agent.
 */
import { answerSeconds } from '#protocol/messages/agent.ts';
import type { HeldAttempt } from '#protocol/messages/attempt.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import type { AgentProcessRow } from '../../rows/agents/process-store.ts';
import { type AttemptRow, listOpenAttempts, updateAttempt } from '../../rows/dispatch/attempt-store.ts';
import { openFences } from '../../rows/dispatch/run-store.ts';
import { loseAttempt } from './lose-attempt.ts';

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

/** Whether the process may not have received the attempt yet. One that registered later never will. */
function isOnItsWay(attempt: Pick<AttemptRow, 'claimed_at'>, agent: ListingAgent, now: Date): boolean {
  const claimedAt = attempt.claimed_at.getTime();
  return claimedAt >= agent.registered_at.getTime() && now.getTime() - claimedAt < answerSeconds * 1000;
}

/** The process that reports a list. */
type ListingAgent = Pick<AgentProcessRow, 'id' | 'registered_at'>;

/** Counts the lists that an attempt was missing from, and loses it with the last one. */
async function countList(context: Context, attempt: AttemptRow, missed: number): Promise<void> {
  await inTransaction(context, async (context) => {
    await updateAttempt(context.db, attempt, { missed_lists: missed });
    if (missed >= listsUntilLost)
      await loseAttempt(context, attempt, 'its agent no longer has it; the log of the agent says why');
  });
}

/**
 * Each attempt is lost on its own, which waits for its environment: one that cannot be lost now is missing from the
 * next list as well.
 * @returns the held attempts that the server no longer wants
 */
export async function compareHeld(
  context: Context,
  agent: ListingAgent,
  held: readonly HeldAttempt[],
): Promise<HeldAttempt[]> {
  for (const attempt of await listOpenAttempts(context.reserved, agent.id)) {
    const missed = isHeld(held, attempt) ? 0 : attempt.missed_lists + 1;
    if (missed === attempt.missed_lists) continue;
    if (missed > 0 && isOnItsWay(attempt, agent, context.now())) continue;
    await countList(context, attempt, missed).catch((error: unknown) => {
      const { job_id: jobId, number } = attempt;
      context.log.error(
        { err: error, jobId, attempt: number },
        'cannot lose a run that its agent no longer has',
      );
    });
  }
  return unwantedOf(context.reserved, agent.id, held);
}
