/** The rows that a job for an agent is assembled from. */
import type { Context } from '../../framework/context.ts';
import { type DeploymentRow, getDeploymentRow } from '../../rows/deployments/deployment-store.ts';
import type { ClaimedRun, RunPlace } from '../../rows/dispatch/claim-store.ts';
import { type EnvironmentRow, getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getTemplateRow, type TemplateRow } from '../../rows/templates/template-store.ts';
import { type RunInputs, readInputs } from '../deployments/inputs/run-inputs.ts';

export interface JobFacts extends ClaimedRun {
  readonly deployment: DeploymentRow | undefined;
  readonly inputs: RunInputs;
  readonly environment: EnvironmentRow | undefined;
  readonly template: TemplateRow | undefined;
}

/** Facts about a claimed job. */
export async function loadJobFacts(
  context: Context,
  { job, attempt, environment_id, template_id }: ClaimedRun & RunPlace,
): Promise<JobFacts> {
  const { db } = context;
  const [deployment, inputs, environment, template] = await Promise.all([
    getDeploymentRow(db, job.deployment_id),
    readInputs(context, job.deployment_id),
    getEnvironmentRow(db, environment_id),
    getTemplateRow(db, template_id),
  ]);
  return { job, attempt, deployment, inputs, environment, template };
}
