/** Writes of tools outside of runs to an environment's state, by the http protocol. */

import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { promiseEffect } from '../../framework/effects/effect-kind.ts';
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, Refusal } from '../../ground/errors.ts';
import { type LockedEnvironment, updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import {
  getStateVersion,
  getStateVersionOfLock,
  replaceStateContent,
  type StateVersionRow,
  supersedeCurrent,
} from '../../rows/state/state-store.ts';
import { hashInTurns } from './files/hash-in-turns.ts';
import { release } from './files/whole-bytes.ts';
import { requireStateFile } from './import-state.ts';
import { isOwnLock } from './lock-state.ts';
import { type PlacedState, storeVersion } from './place-version.ts';
import { findStateHolder, type StateHolder } from './state-holder.ts';

/**
 * The result of writing a state: stored, not stored because it is held, or kept as rescued because its lock
 * was taken away.
 */
export type WriteEnd =
  | { readonly kind: 'stored'; readonly version: StateVersionRow }
  | { readonly kind: 'held'; readonly holder: StateHolder }
  | { readonly kind: 'rescued'; readonly version: StateVersionRow };

/** @throws Refusal 400 for bytes that are not those of the checksum */
export async function checkMd5(bytes: Buffer, expected: string | undefined): Promise<void> {
  if (expected === undefined) return;
  if ((await hashInTurns('md5', bytes, 'base64')) !== expected.trim())
    throw new Refusal('bad_request', 'The header Content-MD5 does not match the body: send it again');
}

/** @throws Refusal 409 for a state that does not follow the current one */
function requireFollows(state: PlacedState, sha256: string, current: StateVersionRow | undefined): void {
  if (!current) return;
  const { lineage, serial } = state.facts;
  if (lineage !== current.lineage) {
    throw conflict(
      `The state has the lineage ${lineage}, the current one ${current.lineage}: import it with acceptOtherLineage, or check what was pulled`,
    );
  }
  if (serial < current.serial || (serial === current.serial && sha256 !== current.sha256)) {
    throw conflict(
      `The state has the serial ${serial}, the current one is already at ${current.serial}: pull it and start again`,
    );
  }
}

async function record(
  context: ActorContext,
  environment: LockedEnvironment,
  version: StateVersionRow,
): Promise<void> {
  const { id: stateVersionId, serial, lineage, sha256, standing } = version;
  await recordEnvironmentAudit(context, environment, 'state.written', {
    stateVersionId,
    serial,
    lineage,
    sha256,
    standing,
  });
}

interface StateWrite {
  readonly end: WriteEnd;
  /** Named by nothing once this commits. */
  readonly unused: BlobRef | null;
}

/** The state of a tool whose lock was released: kept, listed, promoted by a person. */
async function putAside(
  context: ActorContext,
  environment: LockedEnvironment,
  state: PlacedState,
  sha256: string,
): Promise<StateWrite> {
  const known = await getStateVersionOfLock(context.db, environment.id, state.lockId ?? '');
  const version =
    known?.sha256 === sha256 ? known : await storeVersion(context, environment, state, 'rescued');
  if (version !== known) await record(context, environment, version);
  return { end: { kind: 'rescued', version }, unused: null };
}

/**
 * One listed version per lock: what a tool writes later under the same lock replaces what it wrote before.
 */
async function storeFollowing(
  context: ActorContext,
  environment: LockedEnvironment,
  state: PlacedState,
  { sha256, lockedAt }: { sha256: string; lockedAt: Date | null },
): Promise<StateWrite> {
  const currentId = environment.current_state_version_id;
  const current = currentId === null ? undefined : await getStateVersion(context.db, currentId);
  requireFollows(state, sha256, current);
  if (current?.sha256 === sha256) return { end: { kind: 'stored', version: current }, unused: null };
  // Some tools reuse one lock id: versions from before this lock are kept.
  const isOfThisLock =
    current !== undefined &&
    lockedAt !== null &&
    current.lock_id === state.lockId &&
    current.created_at >= lockedAt;
  if (!isOfThisLock) {
    const version = await storeVersion(context, environment, state);
    await record(context, environment, version);
    return { end: { kind: 'stored', version }, unused: null };
  }
  const blob = await context.blobs.put(['states', environment.id], state.bytes);
  const version = await replaceStateContent(context.db, current.id, {
    ...state.facts,
    sha256,
    bytes: state.bytes.length,
    blob,
    at: context.now(),
  });
  await record(context, environment, version);
  return { end: { kind: 'stored', version }, unused: current.blob };
}

async function store(
  context: ActorContext,
  environment: LockedEnvironment,
  state: PlacedState,
): Promise<StateWrite> {
  const sha256 = await hashInTurns('sha256', state.bytes, 'hex');
  const holder = await findStateHolder(context.db, environment);
  const { lockId } = state;
  const isOwn = holder?.kind === 'tool' && lockId !== undefined && isOwnLock(context, holder.lock, lockId);
  if (
    holder &&
    !isOwn &&
    (lockId === undefined || (holder.kind === 'tool' && holder.lock.lock_id === lockId))
  )
    return { end: { kind: 'held', holder }, unused: null };
  if (!isOwn && lockId !== undefined) return putAside(context, environment, state, sha256);
  return storeFollowing(context, environment, state, {
    sha256,
    lockedAt: isOwn ? holder.lock.held_since : null,
  });
}

/**
 * Stores what a tool has written.
 * @param sent not usable afterwards
 * @param lockId of the lock that the tool says it holds; absent: it works without one, which is right only
 * while the state is not held
 * @throws Refusal 400 for content that is not a state, 404, 409 for a state that does not follow the current one
 */
export async function writeState(
  context: ActorContext,
  environmentId: string,
  sent: Buffer<ArrayBuffer>,
  lockId: string | undefined,
): Promise<WriteEnd> {
  const read = await requireStateFile(sent);
  const state: PlacedState = { ...read, origin: 'http', ...(lockId === undefined ? {} : { lockId }) };
  const written = await inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const { end, unused } = await store(context, environment, state);
    if (unused) await promiseEffect(context, removeBlobs, { ids: [unused.id] });
    return end;
  });
  release(read.bytes);
  return written;
}

/**
 * Leaves the environment without a current state; its versions stay. @returns who holds the state, or null
 * where it is done
 */
export async function deleteState(context: ActorContext, environmentId: string): Promise<StateHolder | null> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const holder = await findStateHolder(context.db, environment);
    // Tools name no lock when they delete.
    if (holder && !(holder.kind === 'tool' && holder.lock.held_by === context.actor.userId)) return holder;
    await forgetCurrent(context, environment);
    return null;
  });
}

/** The caller has checked that the state has no other holder. @returns the version that was current */
export async function forgetCurrent(
  context: ActorContext,
  environment: LockedEnvironment,
): Promise<string | null> {
  const before = environment.current_state_version_id;
  if (before === null) return null;
  await supersedeCurrent(context.db, environment.id);
  await updateEnvironmentRow(context.db, environment, { current_state_version_id: null });
  await recordEnvironmentAudit(context, environment, 'state.cleared', { stateVersionId: before });
  return before;
}
