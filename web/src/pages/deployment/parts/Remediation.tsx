/** Automatic reaction to the drift that a drift run found. */
import { Link } from '@tanstack/react-router';
import type { DeploymentReply } from '../facts/reads.ts';

export function Remediation({
  check: { remediation },
}: {
  readonly check: Pick<DeploymentReply, 'remediation'>;
}) {
  if (!remediation) return null;
  const { deploymentId, reason } = remediation;
  if (deploymentId === undefined)
    return (
      <p>
        It was not repaired automatically: <bdi>{reason}</bdi>
      </p>
    );
  return (
    <p>
      <Link to="/deployments/$deploymentId" params={{ deploymentId }}>
        A deployment to repair it
      </Link>{' '}
      was started automatically.
    </p>
  );
}
