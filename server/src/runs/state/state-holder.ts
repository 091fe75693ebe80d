/**
 * Current holder of an environment's state, which blocks other writers: a run, a tool outside of
 * runs, or a person's lock.
 */
import type { Connection } from '../../framework/context.ts';
import { conflict } from '../../ground/errors.ts';
import { activeSerialDeployment, type DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import type { EnvironmentRow, LockedEnvironment } from '../../rows/environments/environment-store.ts';
import { getStateLock, lockInWords, type StateLockRow } from '../../rows/state/state-lock-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';

export type StateHolder =
  | {
      readonly kind: 'deployment';
      readonly deployment: DeploymentRow;
      readonly startedBy: string;
      readonly text: string;
    }
  | { readonly kind: 'tool'; readonly lock: StateLockRow; readonly text: string }
  | {
      readonly kind: 'person';
      readonly environment: EnvironmentRow;
      readonly lockedBy: string;
      readonly text: string;
    };

async function nameOf(db: Connection, userId: string | null): Promise<string> {
  return userId === null ? 'an unknown user' : ((await getUsers(db, [userId])).get(userId)?.name ?? userId);
}

async function heldByDeployment(db: Connection, deployment: DeploymentRow): Promise<StateHolder> {
  const startedBy = await nameOf(db, deployment.started_by);
  const since = (deployment.started_at ?? deployment.queued_at).toISOString();
  const what =
    deployment.status === 'WAITING_FOR_USER' ? 'approve or cancel it' : 'wait until it ends, or abort it';
  const text = `The ${deployment.type} ${deployment.id} by ${startedBy} has held the state since ${since} and is ${deployment.status}: ${what}`;
  return { kind: 'deployment', deployment, startedBy, text };
}

async function heldByPerson(db: Connection, environment: EnvironmentRow): Promise<StateHolder> {
  const lockedBy = await nameOf(db, environment.locked_by);
  const reason = environment.lock_reason ? ` (${environment.lock_reason})` : '';
  return {
    kind: 'person',
    environment,
    lockedBy,
    text: `Environment "${environment.name}" is locked by ${lockedBy}${reason}: unlock it first`,
  };
}

/** @returns the first of run, tool and person that holds the state, or null */
export async function findStateHolder(
  tx: Connection,
  environment: LockedEnvironment,
): Promise<StateHolder | null> {
  const deployment = await activeSerialDeployment(tx, environment.id);
  if (deployment) return heldByDeployment(tx, deployment);
  const lock = await getStateLock(tx, environment.id);
  if (lock)
    return { kind: 'tool', lock, text: `${lockInWords(lock)}: wait until it is released, or release it` };
  return environment.is_locked ? heldByPerson(tx, environment) : null;
}

/** @throws Refusal 409 that names who holds the state */
export async function requireFreeState(tx: Connection, environment: LockedEnvironment): Promise<void> {
  const holder = await findStateHolder(tx, environment);
  if (holder) throw conflict(holder.text);
}
