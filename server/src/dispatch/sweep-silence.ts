/** Loop: stamps the database, and gives up on runs whose agents have been silent for too long. */
import type { Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { giveUpAfterSeconds, judgeSilence } from '../agents/contact.ts';
import { loseAttempt } from './lose-attempt.ts';

export const stampEverySeconds = 5;
/** Two stamps further apart than this are a gap, in which heartbeats could not be stored. */
const gapSeconds = stampEverySeconds * 3;
const keptSeconds = 24 * 3600;

/** Writes a stamp. @returns since when stamps have no gap */
export async function stamp(context: Context): Promise<Date> {
  const now = context.now();
  await context.db
    .insertInto('server_stamp')
    .values({ stamped_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await context.db
    .deleteFrom('server_stamp')
    .where('stamped_at', '<', new Date(now.getTime() - keptSeconds * 1000))
    .execute();
  const stamps = await context.db.selectFrom('server_stamp').select('stamped_at').orderBy('stamped_at', 'desc').execute();
  let since = now;
  for (const { stamped_at } of stamps) {
    if (since.getTime() - stamped_at.getTime() > gapSeconds * 1000) break;
    since = stamped_at;
  }
  return since;
}

/** One pass: every open attempt is judged by the silence of its agent. */
export async function sweepSilence(context: Context): Promise<void> {
  const stampedSince = await stamp(context);
  const giveUpSeconds = giveUpAfterSeconds(context.settings);
  const open = await context.db
    .selectFrom('attempt')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .selectAll('attempt')
    .select(['agent_process.contact_at', 'agent_process.hostname'])
    .where('attempt.status', '<>', 'ended')
    .execute();
  for (const { contact_at, hostname, ...attempt } of open) {
    const verdict = judgeSilence({
      now: context.now(),
      contactAt: contact_at,
      stampedSince,
      hasMark: attempt.mark !== null,
      giveUpSeconds,
    });
    if (verdict === 'wait') continue;
    const reason = `its agent on ${hostname} has not been heard of since ${contact_at.toISOString()}`;
    context.log.warn({ jobId: attempt.job_id, attempt: attempt.number, verdict }, 'run given up for silence');
    await inTransaction(context.db, (tx) => loseAttempt(tx, context, attempt, reason));
  }
}
