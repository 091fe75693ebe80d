/**
 * The lock that a tool outside of runs takes on an environment's state: against deployments, and they against
 * it.
 */

import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, Refusal } from '../../ground/errors.ts';
import type { LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import {
  deleteStateLock,
  getStateLock,
  insertStateLock,
  lockInWords,
  type StateLockRow,
} from '../../rows/state/state-lock-store.ts';
import { advanceQueue } from '../deployments/transitions/advance-queue.ts';
import { findStateHolder, type StateHolder } from './state-holder.ts';

/** Lock form of tools: they send it when they lock, and print it when they find a lock. */
export interface LockInfo {
  readonly ID: string;
  readonly Operation: string;
  readonly Info: string;
  readonly Who: string;
  readonly Version: string;
  readonly Created: string;
  readonly Path: string;
}

/**
 * Tells a tool who holds the state, in the form in which it prints locks. Of an existing lock it shows the id
 * alone: if that releases nothing, the id says who holds the state instead.
 */
export function lockInfoOf(holder: StateHolder): LockInfo {
  const none = { Version: '', Path: '', Info: holder.text };
  if (holder.kind === 'tool') {
    return {
      Operation: '',
      Who: '',
      Created: holder.lock.held_since.toISOString(),
      ...none,
      ...holder.lock.info,
      ID: holder.lock.lock_id,
    };
  }
  if (holder.kind === 'deployment') {
    const { type, started_at: started, queued_at: queued } = holder.deployment;
    return {
      ...none,
      ID: holder.text,
      Operation: type,
      Who: `${holder.startedBy} (Envarium)`,
      Created: (started ?? queued).toISOString(),
    };
  }
  const { locked_at: at } = holder.environment;
  return {
    ...none,
    ID: holder.text,
    Operation: 'lock',
    Who: `${holder.lockedBy} (Envarium)`,
    Created: (at ?? new Date(0)).toISOString(),
  };
}

/**
 * Whether a lock is the caller's: a tool shows its lock's id to everybody who finds it, so the id alone
 * proves nothing.
 */
export function isOwnLock(context: ActorContext, lock: StateLockRow, lockId: string): boolean {
  return lock.lock_id === lockId && lock.held_by === context.actor.userId;
}

/** @returns null where the lock is taken now or was by the same call before, else who holds the state */
export async function lockState(
  context: ActorContext,
  environmentId: string,
  info: Record<string, unknown> & { ID: string },
): Promise<StateHolder | null> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const holder = await findStateHolder(context.db, environment);
    if (holder?.kind === 'tool' && isOwnLock(context, holder.lock, info.ID)) return null;
    if (holder) return holder;
    await insertStateLock(context.db, {
      environmentId,
      lockId: info.ID,
      info,
      heldBy: context.actor.userId,
      at: context.now(),
    });
    await recordEnvironmentAudit(context, environment, 'state.locked', {
      lockId: info.ID,
      operation: info['Operation'],
      who: info['Who'],
    });
    return null;
  });
}

async function giveBack(context: ActorContext, environment: LockedEnvironment): Promise<void> {
  await deleteStateLock(context.db, environment.id);
  await advanceQueue(context, environment);
}

/**
 * @param lockId absent: the tool releases whatever lock is held, as `force-unlock` does
 * @throws Refusal 403 for another key's lock without the right to release it, 409 where another lock or a
 * deployment holds the state
 */
export async function unlockState(
  context: ActorContext,
  environmentId: string,
  lockId: string | undefined,
): Promise<void> {
  await inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const lock = await getStateLock(context.db, environmentId);
    if (!lock) {
      const holder = lockId === undefined ? await findStateHolder(context.db, environment) : null;
      if (holder) throw conflict(holder.text);
      return;
    }
    if (lockId !== undefined && lockId !== lock.lock_id)
      throw conflict(`${lockInWords(lock)}: its id is ${lock.lock_id}, not ${lockId}`);
    const isOwn = lockId !== undefined && isOwnLock(context, lock, lockId);
    if (!isOwn && !context.actor.access.has('FORCE_UNLOCK_WORKSPACE', inEnvironment(environment))) {
      const why =
        lockId === undefined
          ? 'Releasing a lock without sending its id'
          : 'Releasing the lock of another key';
      throw new Refusal('forbidden', `${why} needs the right FORCE_UNLOCK_WORKSPACE. ${lockInWords(lock)}`);
    }
    await giveBack(context, environment);
    await recordEnvironmentAudit(context, environment, isOwn ? 'state.unlocked' : 'state.lockFreed', {
      lockId: lock.lock_id,
      heldBy: lock.held_by,
    });
  });
}

/**
 * Releases a forgotten lock at a person's request.
 * @returns the lock as it was
 * @throws Refusal 404, 409 where no lock or another one is held
 */
export async function freeStateLock(
  context: ActorContext,
  environmentId: string,
  { lockId, reason }: { lockId?: string; reason?: string },
): Promise<StateLockRow> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const lock = await getStateLock(context.db, environmentId);
    if (!lock) throw conflict('No tool holds the state of this environment: there is no lock to release');
    if (lockId !== undefined && lockId !== lock.lock_id)
      throw conflict(`${lockInWords(lock)}: its id is ${lock.lock_id}, not ${lockId}`);
    await giveBack(context, environment);
    const details = { lockId: lock.lock_id, heldBy: lock.held_by, ...(reason ? { reason } : {}) };
    await recordEnvironmentAudit(context, environment, 'state.lockFreed', details);
    return lock;
  });
}
