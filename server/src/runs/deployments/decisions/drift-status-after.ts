/** The drift status of an environment after one of its deployments. Pure. */
import type { DeploymentStatus, DriftStatus } from '#contract/schema/enumerations.ts';

interface EndedDeployment {
  readonly type: string;
  readonly status: DeploymentStatus;
  readonly driftDetected: boolean | null;
}

const unjudged: readonly DeploymentStatus[] = ['ABORTED', 'CANCELLED', 'SKIPPED'];

/**
 * A drift run reports what it found; a deploy or destroy that succeeded leaves nothing drifted, once
 * a drift run has looked.
 * @param current the status before; NEVER_RUN until the first drift run
 */
export function driftStatusAfter(
  current: DriftStatus,
  { type, status, driftDetected }: EndedDeployment,
): DriftStatus {
  if (type === 'driftDetection') {
    if (unjudged.includes(status)) return current;
    if (status !== 'SUCCESS') return 'ERROR';
    return driftDetected ? 'DRIFTED' : 'OK';
  }
  const isOverwritten =
    status === 'SUCCESS' && (type === 'deploy' || type === 'destroy') && current !== 'NEVER_RUN';
  return isOverwritten ? 'OK' : current;
}
