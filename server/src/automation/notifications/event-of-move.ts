/** Event for the move of a deployment. Pure. */

import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { DeploymentStatus, DeploymentType, DriftStatus } from '#contract/schema/enumerations.ts';

export interface Move {
  readonly type: DeploymentType;
  /** Null for a new deployment. */
  readonly from: DeploymentStatus | null;
  readonly to: DeploymentStatus;
  readonly driftDetected: boolean | null;
  /** Facts from before the move. */
  readonly driftBefore: DriftStatus | undefined;
}

const failures: readonly DeploymentStatus[] = ['FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT'];

function driftEvent({ to, driftDetected, driftBefore }: Move): NotificationEvent | null {
  if (failures.includes(to)) return 'driftFailed';
  if (to !== 'SUCCESS') return null;
  if (driftDetected) return 'driftDetected';
  return driftBefore === 'DRIFTED' ? 'driftUndetected' : null;
}

/**
 * @returns null for a move without a notification. Only deploys, destroys and drift runs have events; that
 * there is no drift is one only where there was some before
 */
export function eventOfMove(move: Move): NotificationEvent | null {
  const { type, from, to } = move;
  if (type === 'driftDetection') return driftEvent(move);
  if (type !== 'deploy' && type !== 'destroy') return null;
  const isDeploy = type === 'deploy';
  if (failures.includes(to)) return isDeploy ? 'deployFailed' : 'destroyFailed';
  switch (to) {
    case 'SUCCESS':
      return isDeploy ? 'deploySucceeded' : 'destroySucceeded';
    case 'WAITING_FOR_USER':
      return 'deploymentWaitingForUser';
    case 'CANCELLED':
    case 'ABORTED':
      return 'deploymentCancelled';
    case 'IN_PROGRESS':
      if (from === 'WAITING_FOR_USER')
        return isDeploy ? 'environmentDeployResumed' : 'environmentDestroyResumed';
      if (from !== null && from !== 'QUEUED') return null;
      return isDeploy ? 'environmentDeployStarted' : 'environmentDestroyStarted';
    default:
      return null;
  }
}
