/** The `ENVARIUM_…` names that every tool of a run sees; each key of customServiceEnvironmentVariables in camelCase has one. */
import type { Connection } from '../context.ts';
import type { DeploymentRow } from '../environments/deployment-store.ts';
import { listReviews } from '../environments/deployment-store.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import type { TemplateRow } from '../templates/template-store.ts';
import { getUsers, type UserRow } from '../users/user-store.ts';

/** `deploymentLogId` → `ENVARIUM_DEPLOYMENT_LOG_ID`. */
export function systemVariableName(key: string): string {
  return `ENVARIUM_${key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}`;
}

function person(prefix: string, user: UserRow | undefined): Record<string, string> {
  return { [`${prefix}Name`]: user?.name ?? '', [`${prefix}UserId`]: user?.id ?? '', [`${prefix}Email`]: user?.email ?? '' };
}

async function facts(
  db: Connection,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
): Promise<Record<string, string>> {
  const reviews = await listReviews(db, [deployment.id]);
  const reviewerId = reviews.findLast((review) => review.action === 'approved')?.user_id;
  const users = await getUsers(db, [environment.user_id, deployment.started_by, ...(reviewerId ? [reviewerId] : [])]);
  const project = await db
    .selectFrom('project')
    .select(['name', 'hierarchy'])
    .where('id', '=', environment.project_id)
    .executeTakeFirstOrThrow();
  const ancestors = project.hierarchy.split('|').slice(0, -1);
  return {
    environmentId: environment.id,
    environmentName: environment.name,
    projectId: environment.project_id,
    projectName: project.name,
    parentProjectIds: ancestors.join('|'),
    organizationId: environment.organization_id,
    deploymentLogId: deployment.id,
    deploymentType: deployment.type,
    deploymentRevision: deployment.commit_hash ?? deployment.blueprint_revision,
    workspaceName: environment.workspace_name,
    templateId: template.id,
    templateName: template.name,
    templateDir: deployment.blueprint_path,
    ...person('environmentCreator', users.get(environment.user_id)),
    ...person('deployer', users.get(deployment.started_by)),
    ...person('reviewer', reviewerId ? users.get(reviewerId) : undefined),
    ...(deployment.commit_hash ? { commitHash: deployment.commit_hash } : {}),
  };
}

/** Facts of the run, overridden by what the deploy request gave as customServiceEnvironmentVariables. */
export async function systemVariables(
  db: Connection,
  deployment: DeploymentRow,
  environment: EnvironmentRow,
  template: TemplateRow,
  secret: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const all = { ...(await facts(db, deployment, environment, template)), ...deployment.custom_environment_variables, ...secret };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [systemVariableName(key), value]));
}
