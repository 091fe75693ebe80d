/**
 * Receives a state from an attempt. What cannot become current is kept as rescued, up to a limit for each
 * environment; beyond it, the agent keeps the state.
 */
import type { StateReply } from '#protocol/messages/attempt.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';
import { inTransaction, withCommit } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { isAttemptOver, updateAttempt } from '../../rows/dispatch/attempt-store.ts';
import { getStateSender, isAnotherApplying, type StateSender } from '../../rows/dispatch/run-store.ts';
import {
  getEnvironmentRow,
  getEnvironmentRows,
  type LockedEnvironment,
  lockEnvironmentRow,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { getStateLock } from '../../rows/state/state-lock-store.ts';
import {
  detachFromAttempt,
  environmentsOfLineage,
  getStateVersion,
  getStateVersionOfAttempt,
  insertStateVersion,
  replaceStateContent,
  type StateVersionRow,
  supersedeCurrent,
} from '../../rows/state/state-store.ts';
import { hashInTurns } from './files/hash-in-turns.ts';
import { type ReadState, readStateFacts, type StateFacts } from './files/read-state.ts';
import { release } from './files/whole-bytes.ts';
import { requireRescueSpace } from './place-version.ts';
import { type RescueReason, rescueReason } from './rescue-reason.ts';

export interface ShippedState {
  readonly environmentId: string;
  readonly deploymentId: string;
  readonly jobId: string;
  readonly attempt: number;
  /** The version it says it follows; empty: there was none. */
  readonly follows: string;
  readonly sha256: string;
  readonly bytes: Buffer<ArrayBuffer>;
  /** The attempt sends no later one. */
  readonly isFinal: boolean;
}

async function readShipped(bytes: Buffer<ArrayBuffer>): Promise<ReadState> {
  try {
    return await readStateFacts(bytes);
  } catch (error) {
    throw new Refusal('bad_request', `/body cannot be stored as a state: ${(error as Error).message}`);
  }
}

/** Whether another attempt already changes resources from the current version. */
async function isHeld(tx: Connection, { environmentId, jobId, attempt }: ShippedState): Promise<boolean> {
  const [lock, isApplying] = await Promise.all([
    getStateLock(tx, environmentId),
    isAnotherApplying(tx, environmentId, { job_id: jobId, number: attempt }),
  ]);
  return lock !== undefined || isApplying;
}

/** Only a state that moves into ours comes from a plan: nothing is applied there. */
function isOfPlan({ phase, type }: StateSender): boolean {
  return phase === 'plan' && type !== 'task';
}

/** A plan that brought the state with it was made on it. */
async function rememberMoved(
  tx: Connection,
  sender: StateSender,
  shipped: ShippedState,
  id: string,
): Promise<void> {
  if (!isOfPlan(sender)) return;
  await updateAttempt(tx, { job_id: shipped.jobId, number: shipped.attempt }, { state_version_id: id });
}

/** The same state that an attempt before this one brought, whose answer its agent never got. */
async function movedBefore(
  tx: Connection,
  environment: LockedEnvironment,
  sender: StateSender,
  shipped: ShippedState,
): Promise<StateVersionRow | null> {
  if (!isOfPlan(sender)) return null;
  const currentId = environment.current_state_version_id;
  const current = currentId === null ? undefined : await getStateVersion(tx, currentId);
  if (current?.origin !== 'moved' || current.sha256 !== shipped.sha256) return null;
  await rememberMoved(tx, sender, shipped, current.id);
  return current;
}

interface ReceivedState {
  readonly facts: StateFacts;
  /** Being stored: a row must not name it before it is. */
  readonly blob: Promise<BlobRef>;
}

/**
 * Whether a state has the lineage of another environment that is in use, and never was this one's: a run that
 * brings such a state has got hold of it.
 */
async function isOfOtherEnvironment(
  db: Connection,
  environmentId: string,
  lineage: string,
): Promise<boolean> {
  const ids = await environmentsOfLineage(db, lineage);
  if (ids.length === 0 || ids.includes(environmentId)) return false;
  return (await getEnvironmentRows(db, ids)).some((row) => !row.is_archived);
}

async function reasonToRescue(
  { db }: ActorContext,
  environment: LockedEnvironment,
  sender: StateSender,
  shipped: ShippedState,
  state: StateFacts,
): Promise<RescueReason | null> {
  const currentId = environment.current_state_version_id;
  const [held, isOfOther, current] = await Promise.all([
    isHeld(db, shipped),
    isOfOtherEnvironment(db, environment.id, state.lineage),
    currentId === null ? null : getStateVersion(db, currentId),
  ]);
  return rescueReason({
    isOfPlan: isOfPlan(sender),
    isNewestAttempt: sender.attempts === shipped.attempt,
    hasMark: sender.mark !== null,
    isNewerAttemptMarked: sender.isNewerMarked,
    isHeld: held,
    isOfOtherEnvironment: isOfOther,
    state,
    follows: shipped.follows,
    current: current ?? null,
  });
}

async function auditRescue(
  context: ActorContext,
  environment: LockedEnvironment,
  sender: StateSender,
  shipped: ShippedState,
  rescued: { readonly stateVersionId: string; readonly reason: RescueReason; readonly facts: StateFacts },
): Promise<void> {
  const { stateVersionId, reason, facts } = rescued;
  const { jobId, attempt, deploymentId, sha256 } = shipped;
  const { serial, lineage } = facts;
  const run = { deploymentId, jobId, attempt, fence: sender.fence, phase: sender.phase };
  const details = { stateVersionId, reason, ...run, serial, lineage, sha256 };
  await recordEnvironmentAudit(context, environment, 'state.rescued', details);
}

async function storeAnew(
  context: ActorContext,
  environment: LockedEnvironment,
  sender: StateSender,
  shipped: ShippedState,
  { facts, blob }: ReceivedState,
): Promise<StateReply> {
  const [reason, followed] = await Promise.all([
    reasonToRescue(context, environment, sender, shipped, facts),
    // Its state is kept whatever the agent sends there.
    getStateVersion(context.db, shipped.follows),
  ]);
  const isCurrent = reason === null;
  const standing = isCurrent ? 'current' : 'rescued';
  if (!isCurrent) await requireRescueSpace(context, environment.id, shipped.bytes.length);
  const id = context.newId();
  const version = {
    id,
    environmentId: shipped.environmentId,
    deploymentId: shipped.deploymentId,
    jobId: shipped.jobId,
    attempt: shipped.attempt,
    origin: isOfPlan(sender) ? 'moved' : 'run',
    createdBy: null,
    ...facts,
    sha256: shipped.sha256,
    bytes: shipped.bytes.length,
    followsId: followed?.id ?? null,
    standing,
    isWithheld: reason === 'lineageOfOtherEnvironment',
    blob: await blob,
    at: context.now(),
  } as const;
  const insert = () => insertStateVersion(context.db, version);
  if (isCurrent)
    await withCommit(context.db, () => [
      supersedeCurrent(context.db, environment.id),
      insert(),
      updateEnvironmentRow(context.db, environment, { current_state_version_id: id }),
      rememberMoved(context.db, sender, shipped, id),
    ]);
  else {
    await insert();
    await auditRescue(context, environment, sender, shipped, { stateVersionId: id, reason, facts });
  }
  return { stateVersionId: id, standing };
}

/** Whether a state continues the one that the attempt has shipped: its tool may have put another one in its place. */
function isContinuing(known: StateVersionRow, facts: StateFacts): boolean {
  return known.lineage === facts.lineage && known.serial <= facts.serial;
}

/**
 * An attempt's states grow; an older one that arrives late, or the same again, changes nothing. The last one counts
 * whatever its serial is, and so does one of another lineage: the agent keeps neither.
 */
function isNews(known: StateVersionRow, shipped: ShippedState, facts: StateFacts): boolean {
  const isOlder = known.lineage === facts.lineage && known.serial > facts.serial;
  return known.sha256 !== shipped.sha256 && (shipped.isFinal || !isOlder);
}

function replyOf(row: StateVersionRow): StateReply {
  return { stateVersionId: row.id, standing: row.standing === 'rescued' ? 'rescued' : 'current' };
}

/** @returns the answer, and the blob that nothing names once this commits */
async function store(
  context: ActorContext,
  shipped: ShippedState,
  content: ReceivedState,
): Promise<{ reply: StateReply; unused: BlobRef | null }> {
  const { facts } = content;
  const [environment, row, sender] = await Promise.all([
    lockEnvironmentRow(context.db, shipped.environmentId),
    getStateVersionOfAttempt(context.db, shipped.jobId, shipped.attempt),
    getStateSender(context.db, { job_id: shipped.jobId, number: shipped.attempt }),
  ]);
  if (!environment) throw new Error(`Job ${shipped.jobId} has lost its environment`);
  const moved = row ? null : await movedBefore(context.db, environment, sender, shipped);
  if (moved) return { reply: replyOf(moved), unused: await content.blob };
  if (!row) return { reply: await storeAnew(context, environment, sender, shipped, content), unused: null };
  if (!isNews(row, shipped, facts)) return { reply: replyOf(row), unused: await content.blob };
  // Others may have planned on the version of an attempt that has ended: its content stays as they read it.
  const attempt = { job_id: shipped.jobId, number: shipped.attempt };
  if (!isContinuing(row, facts) || (await isAttemptOver(context.db, attempt))) {
    await detachFromAttempt(context.db, row.id);
    return {
      reply: await storeAnew(context, environment, sender, { ...shipped, follows: row.id }, content),
      unused: null,
    };
  }
  if (row.standing === 'rescued')
    await requireRescueSpace(context, environment.id, shipped.bytes.length, row.id);
  await replaceStateContent(context.db, row.id, {
    ...facts,
    sha256: shipped.sha256,
    bytes: shipped.bytes.length,
    blob: await content.blob,
    at: context.now(),
  });
  return { reply: replyOf(row), unused: row.blob };
}

/** Its agent keeps the state: nothing of it stays here, except an entry in the audit trail for the last one. */
async function recordRefused(
  context: ActorContext,
  shipped: ShippedState,
  blob: BlobRef,
  reason: string,
): Promise<void> {
  const { environmentId, deploymentId, jobId, attempt, sha256, bytes, isFinal } = shipped;
  context.log.warn({ environmentId, deploymentId, jobId, attempt, reason }, 'state of a run refused');
  await promiseEffect(context, removeBlobs, { ids: [blob.id] });
  const environment = isFinal ? await getEnvironmentRow(context.db, environmentId) : undefined;
  if (environment)
    await recordEnvironmentAudit(context, environment, 'state.refused', {
      ...{ deploymentId, jobId, attempt, sha256 },
      bytes: bytes.length,
    });
}

/**
 * @param sent whose bytes are not usable afterwards
 * @returns the version that the attempt's state is listed as, and whether it is current
 * @throws Refusal 400 for bytes that are not a state or do not match the checksum, 413 where there is no room
 * for another rescued version
 */
export async function receiveState(context: ActorContext, sent: ShippedState): Promise<StateReply> {
  if ((await hashInTurns('sha256', sent.bytes, 'hex')) !== sent.sha256)
    throw new Refusal('bad_request', '/query/sha256 does not match the body: send it again');
  const { facts, bytes } = await readShipped(sent.bytes);
  const shipped = { ...sent, bytes };
  const known = await getStateVersionOfAttempt(context.db, shipped.jobId, shipped.attempt);
  if (known && !isNews(known, shipped, facts)) return replyOf(known);
  const blob = context.blobs.put(['states', shipped.environmentId], shipped.bytes);
  // Its failure is noticed where a row is to name it.
  blob.catch(() => undefined);
  try {
    const reply = await inTransaction(context, async (context) => {
      const { reply, unused } = await store(context, shipped, { facts, blob });
      if (unused) await promiseEffect(context, removeBlobs, { ids: [unused.id] });
      return reply;
    });
    // A reply follows only the stored blob.
    release(bytes);
    return reply;
  } catch (error) {
    if (error instanceof Refusal) {
      const stored = await blob;
      await inTransaction(context, (context) => recordRefused(context, shipped, stored, error.message));
    }
    throw error;
  }
}
