/** A step as the interface answers it. */
import type { Step } from '#contract/deployments/shapes.ts';
import type { DeploymentRow } from '../../rows/deployments/deployment-store.ts';
import type { StepRow } from '../../rows/logs/step-store.ts';

export function stepView(
  row: StepRow,
  deployment: Pick<DeploymentRow, 'id' | 'project_id' | 'organization_id' | 'environment_id'>,
): Step {
  return {
    id: row.id,
    deploymentLogId: deployment.id,
    name: row.name,
    order: row.position,
    projectId: deployment.project_id,
    organizationId: deployment.organization_id,
    environmentId: deployment.environment_id,
    status: row.status,
    ...(row.started_at ? { startedAt: row.started_at.toISOString() } : {}),
    ...(row.retry_count > 0 ? { retryCount: row.retry_count } : {}),
    ...(row.completed_at ? { completedAt: row.completed_at.toISOString() } : {}),
  };
}
