/** Whether an environment can be deleted. Pure: facts in, decision out. */
import type { DeploymentStatus, DeploymentType } from '#contract/schema/enumerations.ts';

export interface DeleteFacts {
  readonly environment: {
    readonly name: string;
    readonly isLocked: boolean;
    readonly lockReason: string | null;
  };
  /** Queued and active deployments of the environment. */
  readonly open: readonly {
    readonly id: string;
    readonly type: DeploymentType;
    readonly status: DeploymentStatus;
  }[];
  /** The lock that a tool outside of runs holds on the state, in words. */
  readonly stateLock: string | null;
  /** Versions of its state that were ever stored, imported ones included. */
  readonly stateVersions: number;
  /** A run has begun to change something, wherever its state is. */
  readonly wasChanged: boolean;
}

/** @returns why the environment cannot be deleted; null if it can */
export function refusalOfDelete(facts: DeleteFacts): string | null {
  const { environment, open, stateLock, stateVersions, wasChanged } = facts;
  const subject = `Environment "${environment.name}"`;
  if (environment.isLocked) {
    const reason = environment.lockReason ? ` (${environment.lockReason})` : '';
    return `${subject} is locked${reason}: unlock it first`;
  }
  const [first] = open;
  if (first)
    return `${subject} has a ${first.type} that is ${first.status} (${first.id}): cancel or abort it first`;
  if (stateLock !== null) return `${stateLock}: unlock the state of environment "${environment.name}" first`;
  if (stateVersions > 0 || wasChanged)
    return `${subject} has or may have had resources, so it cannot be deleted: destroy it, then archive it`;
  return null;
}
