/**
 * Stores what a run reports while it is running: log bytes by offset, then events by position. What is sent
 * twice counts once.
 */
import type { ReportReply, ReportRequest, RunEvent } from '#protocol/messages/report.ts';
import type { Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import {
  type DeploymentRow,
  lockDeploymentRow,
  updateDeploymentRow,
} from '../deployments/deployment-store.ts';
import { deploymentChannel, insertEvents, type NewEvent } from '../feeds/record-event.ts';
import { appendLog, getStepRow, setStepStatus } from '../logs/step-store.ts';
import { stepView } from '../logs/step-view.ts';
import { type AttemptRow, lockAttempt, updateAttempt } from './attempt-store.ts';
import { DispatchRefusal } from './refusals.ts';
import type { AttemptInPlace } from './run-store.ts';

type Bases = Record<string, number>;

/** Appends what is new of a chunk. @returns the attempt's next expected offset of that step */
async function storeLog(
  tx: Connection,
  deploymentId: string,
  bases: Bases,
  chunk: ReportRequest['logs'][number],
): Promise<number> {
  const step = await getStepRow(tx, deploymentId, chunk.step);
  if (!step) return chunk.offset + Buffer.byteLength(chunk.base64, 'base64');
  // A later attempt or phase continues where the step's log ends.
  const base = (bases[chunk.step] ??= step.log_bytes);
  const expected = step.log_bytes - base;
  const bytes = Buffer.from(chunk.base64, 'base64');
  if (chunk.offset > expected || chunk.offset + bytes.length <= expected) return expected;
  const fresh = bytes.subarray(expected - chunk.offset);
  await appendLog(tx, step, step.log_bytes, fresh);
  return expected + fresh.length;
}

/** @returns what readers of the deployment learn of it, if anything */
async function applyEvent(
  tx: Connection,
  deployment: DeploymentRow,
  event: RunEvent,
): Promise<NewEvent | null> {
  switch (event.kind) {
    case 'step': {
      const row = await setStepStatus(
        tx,
        deployment.id,
        event.step,
        event.status,
        new Date(event.at),
        event.retryCount,
      );
      return row ? { name: 'step', data: stepView(row, deployment) } : null;
    }
    case 'git':
      await updateDeploymentRow(tx, deployment.id, {
        commit_hash: event.commit,
        git_metadata: JSON.stringify({
          commit: event.commit,
          branch: event.branch,
          timestamp: event.timestamp,
        }),
      });
      return null;
    case 'resource':
    case 'process':
    case 'warning': {
      const { kind: name, ...data } = event;
      return { name, data };
    }
  }
}

/** Resources appear while they are being created; the outcome has the final list. */
async function followResources(
  tx: Connection,
  deployment: DeploymentRow,
  events: readonly RunEvent[],
): Promise<void> {
  const rows = [...(deployment.resources ?? [])];
  const key = (row: { type: string; name: string; moduleName: string }) =>
    `${row.moduleName} ${row.type} ${row.name}`;
  const known = new Set(rows.map(key));
  for (const event of events) {
    if (
      event.kind !== 'resource' ||
      event.status !== 'done' ||
      event.action === 'delete' ||
      known.has(key(event))
    )
      continue;
    known.add(key(event));
    rows.push({ provider: event.provider, type: event.type, name: event.name, moduleName: event.moduleName });
  }
  if (rows.length > (deployment.resources?.length ?? 0)) {
    await updateDeploymentRow(tx, deployment.id, {
      resources: JSON.stringify(rows),
      resource_count: rows.length,
    });
  }
}

async function storeEvents(
  context: Context,
  attempt: AttemptRow,
  deployment: DeploymentRow,
  request: ReportRequest,
): Promise<number> {
  const stored = attempt.events_stored;
  if (request.eventsFrom > stored) return stored;
  const fresh = request.events.slice(stored - request.eventsFrom);
  const told: NewEvent[] = [];
  for (const event of fresh) {
    const one = await applyEvent(context.db, deployment, event);
    if (one) told.push(one);
  }
  await insertEvents(context, deployment.id, told);
  if (fresh.some((event) => event.kind === 'resource')) await followResources(context.db, deployment, fresh);
  return stored + fresh.length;
}

/** The requests about a run, for its agent. */
export function abortOf(deployment: Pick<DeploymentRow, 'status'>): 'gently' | null {
  return deployment.status === 'ABORTING' ? 'gently' : null;
}

/**
 * The caller has checked agent, epoch and fence. @throws DispatchRefusal `fence_outdated` where the attempt
 * was given up meanwhile
 */
export async function receiveReport(
  context: Context,
  { attempt, job }: AttemptInPlace,
  request: ReportRequest,
): Promise<ReportReply> {
  return inTransaction(context, async (context) => {
    const deployment = await lockDeploymentRow(context.db, job.deployment_id);
    const current = await lockAttempt(context.db, attempt);
    if (!deployment) throw new Error(`Job ${job.id} has lost its deployment`);
    // With an outcome of its own, everything was stored before: its agent only asks where the server stands.
    if (current.status === 'ended' && current.outcome_sha256 === null)
      throw new DispatchRefusal('fence_outdated', 'This attempt has ended, and others may have replaced it');
    const bases: Bases = { ...current.log_bases };
    const logs: Record<string, number> = {};
    for (const chunk of request.logs)
      logs[chunk.step] = await storeLog(context.db, deployment.id, bases, chunk);
    const events = await storeEvents(context, current, deployment, request);
    await updateAttempt(context.db, attempt, {
      events_stored: events,
      log_bases: JSON.stringify(bases),
    });
    if (request.logs.length > 0 || events > current.events_stored)
      await context.events.publish(context.db, deploymentChannel(deployment.id));
    return { events, logs, abort: abortOf(deployment) };
  });
}
