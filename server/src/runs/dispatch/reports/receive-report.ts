/**
 * Stores what a run reports while it is running: log bytes by offset, then events by position. What is sent
 * twice counts once.
 */
import type { ReportReply, ReportRequest } from '#protocol/messages/report.ts';
import type { Context } from '../../../framework/context.ts';
import { inTransaction, sqlState } from '../../../ground/database/transaction.ts';
import { type DeploymentRow, updateDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import type { AttemptInPlace } from '../../../rows/dispatch/call-store.ts';
import {
  loadReportFacts,
  lockReport,
  type ReportChanges,
  type ReportFacts,
  writeReport,
} from '../../../rows/dispatch/report-store.ts';
import { timeOf } from '../messages/parse-message.ts';
import { DispatchRefusal } from '../messages/refusals.ts';
import { changesOf, isNewResource } from './report-sheet.ts';

/** The requests about a run, for its agent. */
function abortOf(deployment: Pick<DeploymentRow, 'status'>): 'gently' | null {
  return deployment.status === 'ABORTING' ? 'gently' : null;
}

/** With an outcome of its own, everything was stored before: its agent only requests the positions of the server. */
function requireOpen({ attempt }: ReportFacts, { chunks, events }: ReportChanges): void {
  if (attempt.status !== 'ended') return;
  if (attempt.outcome_sha256 === null)
    throw new DispatchRefusal('fence_outdated', 'This attempt has ended, and others may have replaced it');
  if (chunks.length > 0 || events > attempt.events_stored)
    throw new DispatchRefusal(
      'fence_outdated',
      'This attempt has ended: nothing is added to what it reported',
    );
}

function replyTo(facts: ReportFacts, { events }: ReportChanges, logs: Record<string, number>): ReportReply {
  return { events, logs, abort: abortOf(facts.deployment) };
}

/** Such a report also changes the deployment's row, which has to be locked for it. */
function isAboutDeployment({ events }: ReportRequest): boolean {
  return events.some((event) => event.kind === 'git' || isNewResource(event));
}

/** unique_violation (another report has appended to the same log), serialization_failure, deadlock_detected */
const raceFailures = new Set(['23505', '40001', '40P01']);

/** Without a transaction: one statement that stores everything if nothing has changed since the facts were read. */
async function storeAtOnce(
  context: Context,
  place: AttemptInPlace,
  request: ReportRequest,
): Promise<ReportReply | null> {
  const facts = await loadReportFacts(context.db, place, false);
  const { changes, logs } = changesOf(facts, request);
  requireOpen(facts, changes);
  try {
    const isStored = await writeReport(context.db, place, facts, changes, context.now());
    return isStored ? replyTo(facts, changes, logs) : null;
  } catch (error) {
    if (raceFailures.has(sqlState(error))) return null;
    throw error;
  }
}

/**
 * The caller has checked agent, epoch and fence. @throws DispatchRefusal `fence_outdated` where the attempt
 * has been released
 */
export async function receiveReport(
  context: Context,
  place: AttemptInPlace,
  message: ReportRequest,
): Promise<ReportReply> {
  const now = context.now();
  const events = message.events.map((event) => ({ ...event, at: timeOf(event.at, now).toISOString() }));
  const request = { ...message, events };
  const needsLock = isAboutDeployment(request);
  // A collision would end a transaction that has begun already.
  const stored = needsLock || context.db.isTransaction ? null : await storeAtOnce(context, place, request);
  if (stored) return stored;
  return inTransaction(context, async (context) => {
    const [, facts] = await Promise.all([
      lockReport(context.db, place),
      loadReportFacts(context.db, place, needsLock),
    ]);
    const { changes, logs } = changesOf(facts, request);
    requireOpen(facts, changes);
    const [isStored] = await Promise.all([
      writeReport(context.db, place, facts, changes, context.now()),
      changes.deployment && updateDeploymentRow(context.db, facts.deployment.id, changes.deployment),
    ]);
    if (!isStored) throw new Error(`The report about job ${place.job.id} was not stored`);
    return replyTo(facts, changes, logs);
  });
}
