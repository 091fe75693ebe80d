/** The rows that a job for an agent is assembled from. */
import type { Connection } from '../context.ts';
import { type DeploymentRow, getDeploymentRow } from '../deployments/deployment-store.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import type { TemplateRow } from '../templates/template-store.ts';
import type { ClaimedRun } from './run-store.ts';

export interface JobFacts extends ClaimedRun {
  readonly deployment: DeploymentRow | undefined;
  readonly environment: EnvironmentRow | undefined;
  readonly template: TemplateRow | undefined;
}

/** Read with the deployment, not after it. */
async function homeOf(db: Connection, deploymentId: string): Promise<EnvironmentRow | undefined> {
  return db
    .selectFrom('environment')
    .selectAll('environment')
    .innerJoin('deployment', 'deployment.environment_id', 'environment.id')
    .where('deployment.id', '=', deploymentId)
    .executeTakeFirst();
}

async function templateOf(db: Connection, deploymentId: string): Promise<TemplateRow | undefined> {
  return db
    .selectFrom('template')
    .selectAll('template')
    .innerJoin('deployment', 'deployment.template_id', 'template.id')
    .where('deployment.id', '=', deploymentId)
    .executeTakeFirst();
}

/** What a claimed job is about. */
export async function loadJobFacts(db: Connection, { job, attempt }: ClaimedRun): Promise<JobFacts> {
  const [deployment, environment, template] = await Promise.all([
    getDeploymentRow(db, job.deployment_id),
    homeOf(db, job.deployment_id),
    templateOf(db, job.deployment_id),
  ]);
  return { job, attempt, deployment, environment, template };
}
