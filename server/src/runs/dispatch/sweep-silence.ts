/** Loop: stamps the database, and gives up on runs whose agents have been silent for too long. */

import type { Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { endFutureContacts } from '../../rows/agents/process-store.ts';
import { type HeldAttemptRow, listSilentAttempts, lockHeldAttempt } from '../../rows/dispatch/run-store.ts';
import { lockEnvironmentRow } from '../../rows/environments/environment-store.ts';
import {
  deleteStampsAfter,
  deleteStampsBefore,
  insertStamp,
  listStampsSince,
} from '../../rows/system/stamp-store.ts';
import {
  giveUpAfterSeconds,
  judgeSilence,
  reachableSince,
  unreachableAfterSeconds,
} from '../agents/contact.ts';
import { loseAttempt } from './lose-attempt.ts';

export const stampEverySeconds = 5;
/** Two stamps further apart than this are a gap, in which heartbeats could not be stored. */
const gapSeconds = stampEverySeconds * 3;
/** A day, for troubleshooting; longer if the service waits longer for runs. */
const keptSeconds = 24 * 3600;

/** Writes a stamp. @returns since when stamps have no gap, or the earliest time of interest */
async function stamp(context: Context): Promise<Date> {
  const now = context.now();
  // Silence is measured by stamps: those within the time until a run is given up must be there.
  const countedSeconds = giveUpAfterSeconds(context.settings) + gapSeconds + stampEverySeconds;
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  await deleteStampsAfter(context.db, ago(-gapSeconds));
  await insertStamp(context.db, now);
  await deleteStampsBefore(context.db, ago(Math.max(keptSeconds, countedSeconds)));
  const stamps = await listStampsSince(context.db, ago(countedSeconds));
  let since = now;
  for (const stampedAt of stamps) {
    if (since.getTime() - stampedAt.getTime() > gapSeconds * 1000) break;
    since = stampedAt;
  }
  return since;
}

/**
 * Judges one attempt under the environment's lock: its agent may have had contact since
 * again.
 */
async function judgeAttempt(context: Context, found: HeldAttemptRow, stampedSince: Date): Promise<void> {
  await lockEnvironmentRow(context.db, found.environment_id);
  const current = await lockHeldAttempt(context.db, found);
  if (!current) return;
  const { contact_at, hostname, mark } = current;
  const verdict = judgeSilence({
    now: context.now(),
    contactAt: contact_at,
    stampedSince,
    hasMark: mark !== null,
    unreachableSeconds: unreachableAfterSeconds(context.settings),
    giveUpSeconds: giveUpAfterSeconds(context.settings),
  });
  if (verdict === 'wait') return;
  context.log.warn({ jobId: current.job_id, attempt: current.number, verdict }, 'run given up after silence');
  await loseAttempt(
    context,
    current,
    `its agent on ${hostname} has not been heard from since ${contact_at.toISOString()}`,
  );
}

/**
 * One pass: every open attempt is judged by the silence of its agent. One that cannot be judged does not hold
 * up the others.
 */
export async function sweepSilence(context: Context): Promise<void> {
  const stampedSince = await stamp(context);
  const now = context.now();
  // Otherwise, a clock that is set back would hide silence for as long as it was ahead.
  await endFutureContacts(context.db, now, new Date(now.getTime() + gapSeconds * 1000));
  for (const found of await listSilentAttempts(context.db, reachableSince(context))) {
    try {
      await inTransaction(context, (context) => judgeAttempt(context, found, stampedSince));
    } catch (error) {
      context.log.error(
        { err: error, jobId: found.job_id, attempt: found.number },
        'cannot check a run for silence',
      );
    }
  }
}
