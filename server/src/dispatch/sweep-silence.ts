/** Loop: stamps the database, and gives up on runs whose agents have been silent for too long. */
import { giveUpAfterSeconds, judgeSilence, unreachableAfterSeconds } from '../agents/contact.ts';
import type { Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { lockEnvironmentRow } from '../environments/environment-store.ts';
import { loseAttempt } from './lose-attempt.ts';

export const stampEverySeconds = 5;
/** Two stamps further apart than this are a gap, in which heartbeats could not be stored. */
const gapSeconds = stampEverySeconds * 3;
/** A day, for troubleshooting; longer if the service waits longer for runs. */
const keptSeconds = 24 * 3600;

function openAttempts(db: Connection) {
  return db
    .selectFrom('attempt')
    .innerJoin('agent_process', 'agent_process.id', 'attempt.agent_process_id')
    .innerJoin('job', 'job.id', 'attempt.job_id')
    .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
    .selectAll('attempt')
    .select(['agent_process.contact_at', 'agent_process.hostname', 'deployment.environment_id'])
    .where('attempt.status', '<>', 'ended');
}

type OpenAttempt = Awaited<ReturnType<ReturnType<typeof openAttempts>['execute']>>[number];

/** Writes a stamp. @returns since when stamps have no gap, or the time beyond which nobody asks */
export async function stamp(context: Context): Promise<Date> {
  const now = context.now();
  // Silence is measured by stamps: those within the time until a run is given up must be there.
  const countedSeconds = giveUpAfterSeconds(context.settings) + gapSeconds + stampEverySeconds;
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
  await context.db
    .insertInto('server_stamp')
    .values({ stamped_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await context.db
    .deleteFrom('server_stamp')
    .where('stamped_at', '<', ago(Math.max(keptSeconds, countedSeconds)))
    .execute();
  const stamps = await context.db
    .selectFrom('server_stamp')
    .select('stamped_at')
    .where('stamped_at', '>=', ago(countedSeconds))
    .orderBy('stamped_at', 'desc')
    .execute();
  let since = now;
  for (const { stamped_at } of stamps) {
    if (since.getTime() - stamped_at.getTime() > gapSeconds * 1000) break;
    since = stamped_at;
  }
  return since;
}

/**
 * Judges one attempt as it stands under the environment's lock: meanwhile its agent may have been heard of
 * again.
 */
async function judgeAttempt(context: Context, found: OpenAttempt, stampedSince: Date): Promise<void> {
  await lockEnvironmentRow(context.db, found.environment_id);
  const current = await openAttempts(context.db)
    .where('attempt.job_id', '=', found.job_id)
    .where('attempt.number', '=', found.number)
    .forUpdate('attempt')
    .executeTakeFirst();
  if (!current) return;
  const { contact_at, hostname, mark } = current;
  const giveUpSeconds = giveUpAfterSeconds(context.settings);
  const verdict = judgeSilence({
    now: context.now(),
    contactAt: contact_at,
    stampedSince,
    hasMark: mark !== null,
    giveUpSeconds,
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
  const silentSince = new Date(context.now().getTime() - unreachableAfterSeconds * 1000);
  for (const found of await openAttempts(context.db)
    .where('agent_process.contact_at', '<', silentSince)
    .execute()) {
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
