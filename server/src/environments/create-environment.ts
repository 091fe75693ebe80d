/** Makes an environment with a template of its own, and its first deployment, in one transaction. */
import { Cron } from 'croner';
import { type CreateEnvironment, type CreateEnvironmentBody, normalizeCreateEnvironment } from '#contract/create-environment.ts';
import type { CreatedEnvironment } from '#contract/environment.ts';
import { pathRefusal, repositoryRefusal, revisionRefusal } from '#protocol/source-guards.ts';
import { runnableTools } from '#protocol/steps.ts';
import { requireRight } from '../access/check-right.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import type { TemplateSettings } from '../database/stored.ts';
import { badField, conflict } from '../http/errors.ts';
import { getTokenValue } from '../git-tokens/git-token-store.ts';
import { splitCredentials } from '../templates/repository-credentials.ts';
import { insertTemplate, type TemplateRow } from '../templates/template-store.ts';
import { applyVariableChanges } from '../variables/apply-changes.ts';
import { checkApprovalVariable } from './check-approval-variable.ts';
import { insertDeployment } from './deployment-store.ts';
import {
  type EnvironmentRow,
  getEnvironmentRow,
  insertEnvironment,
  updateEnvironmentRow,
  workspaceNameExists,
} from './environment-store.ts';
import { environmentView } from './environment-view.ts';
import { lifespanEnd } from './lifespan.ts';
import { startDeployment } from './start-deployment.ts';

const templateSettingNames = [
  'revision',
  'path',
  'fileName',
  'helmChartName',
  'tokenName',
  'tokenId',
  'sshKeys',
  'githubInstallationId',
  'bitbucketClientKey',
  'isBitbucketServer',
  'isGitLabEnterprise',
  'isGitHubEnterprise',
  'isGitLab',
  'isAzureDevOps',
  'isHelmRepository',
  'vcsConnectionId',
  'terraformVersion',
  'opentofuVersion',
  'terragruntVersion',
  'pulumiVersion',
  'ansibleVersion',
  'terragruntTfBinary',
  'retry',
  'description',
  'runTestsOnPullRequest',
  'isTerragruntRunAll',
  'tagPrefix',
  'creationScopeId',
  'creationScope',
] as const satisfies readonly (keyof CreateEnvironment)[];

function templateSettings(request: CreateEnvironment): TemplateSettings {
  return Object.fromEntries(templateSettingNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]));
}

/** What `deployRequest` says about the environment and its code counts too; what stands outside of it wins. */
function withDeployRequest(request: CreateEnvironment): CreateEnvironment {
  const { blueprintRevision, ttl } = request.deployRequest;
  return { ...request, revision: request.revision ?? blueprintRevision, ttl: request.ttl ?? ttl };
}

/** Everything about the source that can be refused before anything is written. */
async function checkSource(context: ActorContext, request: CreateEnvironment, repository: string): Promise<void> {
  const allowed = { httpHosts: context.settings.gitHttpHosts, localPaths: context.settings.gitLocalPaths };
  const refused = repositoryRefusal(repository, allowed);
  if (refused) throw badField('body.repository', `is refused: ${refused}`);
  for (const [field, value] of [['body.deployRequest.blueprintRevision', request.deployRequest.blueprintRevision], ['body.revision', request.revision]] as const) {
    const revision = value ? revisionRefusal(value) : null;
    if (revision) throw badField(field, `is refused: ${revision}`);
  }
  const path = request.path ? pathRefusal(request.path) : null;
  if (path) throw badField('body.path', `is refused: ${path}`);
  if (request.tokenId && (await getTokenValue(context.db, context, request.organizationId, request.tokenId)) === null) {
    throw badField('body.tokenId', 'names no git token of this organization');
  }
}

function checkSettings(request: CreateEnvironment): void {
  if (!(runnableTools as readonly string[]).includes(request.type)) {
    throw badField('body.type', `${request.type} cannot be run by this version: it runs ${runnableTools.join(', ')}`);
  }
  const first = request.deployRequest.deploymentType;
  if (first !== 'deploy') throw badField('body.deployRequest.deploymentType', `must be deploy for the first deployment of an environment: create it with preventAutoDeploy, then start the ${first}`);
  if (request.isRemoteApplyEnabled && (request.isRemoteBackend !== true || request.requiresApproval !== false)) {
    throw badField('body.isRemoteApplyEnabled', 'needs isRemoteBackend true and requiresApproval false');
  }
  const cron = request.driftDetectionRequest?.cron;
  if (cron === undefined) return;
  try {
    new Cron(cron, { paused: true });
  } catch (error) {
    throw badField('body.driftDetectionRequest.cron', `is no cron pattern: ${(error as Error).message}`);
  }
}

/** Going on without asking anybody is what the right to apply allows. */
function checkApproval(context: ActorContext, request: CreateEnvironment): void {
  const isAutomatic = (request.deployRequest.userRequiresApproval ?? request.requiresApproval) === false;
  if (isAutomatic) requireRight(context.actor, request.organizationId, 'RUN_APPLY', '/body/requiresApproval false');
  checkApprovalVariable(context.actor, request.organizationId, request.configurationChanges, 'body.configurationChanges');
}

async function checkProject(context: ActorContext, request: CreateEnvironment): Promise<void> {
  const project = await context.db
    .selectFrom('project')
    .select(['organization_id', 'is_archived', 'name'])
    .where('id', '=', request.projectId)
    .executeTakeFirstOrThrow();
  if (project.organization_id !== request.organizationId)
    throw badField('body.organizationId', 'is not the organization of the project that projectId names');
  if (project.is_archived) throw conflict(`Project "${project.name}" is archived`);
}

/** An id whose end no other environment's generated workspace has. */
async function drawId(tx: Connection, context: ActorContext, organizationId: string): Promise<{ id: string; workspaceName: string }> {
  for (;;) {
    const id = context.newId();
    const workspaceName = `envarium${id.slice(-6)}`;
    if (!(await workspaceNameExists(tx, organizationId, workspaceName))) return { id, workspaceName };
  }
}

async function insertRow(
  tx: Connection,
  context: ActorContext,
  request: CreateEnvironment,
  template: TemplateRow,
): Promise<EnvironmentRow> {
  const { id, workspaceName } = await drawId(tx, context, request.organizationId);
  const now = context.now();
  return insertEnvironment(tx, {
    id,
    organization_id: request.organizationId,
    project_id: request.projectId,
    template_id: template.id,
    user_id: context.actor.userId,
    name: request.name,
    workspace_name: request.workspaceName ?? workspaceName,
    status: 'NEVER_DEPLOYED',
    resting_status: 'NEVER_DEPLOYED',
    requires_approval: request.deployRequest.userRequiresApproval ?? request.requiresApproval ?? true,
    is_remote_backend: request.isRemoteBackend ?? false,
    is_remote_apply_enabled: request.isRemoteApplyEnabled ?? false,
    continuous_deployment: request.continuousDeployment ?? false,
    pull_request_plan_deployments: request.pullRequestPlanDeployments ?? false,
    auto_deploy_on_path_changes_only: request.autoDeployOnPathChangesOnly ?? true,
    auto_deploy_by_custom_glob: request.autoDeployByCustomGlob ?? null,
    vcs_commands_alias: request.vcsCommandsAlias ?? null,
    vcs_pr_comments_enabled: request.vcsPrCommentsEnabled ?? null,
    terragrunt_working_directory: request.terragruntWorkingDirectory ?? null,
    k8s_namespace: request.k8sNamespace ?? null,
    description: request.description ?? null,
    ttl: request.ttl ? JSON.stringify(request.ttl) : null,
    lifespan_end_at: lifespanEnd(request.ttl, now),
    drift_detection: request.driftDetectionRequest ? JSON.stringify(request.driftDetectionRequest) : null,
    configuration_set_ids: request.configurationSetChanges.assign,
    created_at: now,
    updated_at: now,
  });
}

/** Readers count on a deployment that they can look at, also where none was asked for. */
async function insertPlaceholder(tx: Connection, context: ActorContext, environment: EnvironmentRow, template: TemplateRow): Promise<void> {
  const id = context.newId();
  await insertDeployment(tx, {
    id,
    environment_id: environment.id,
    organization_id: environment.organization_id,
    project_id: environment.project_id,
    type: 'deploy',
    status: 'NEVER_DEPLOYED',
    started_by: context.actor.userId,
    trigger: 'user',
    requires_approval: environment.requires_approval,
    blueprint_id: template.id,
    blueprint_name: template.name,
    blueprint_repository: template.repository,
    blueprint_revision: (template.settings.revision as string | undefined) ?? '',
    blueprint_path: (template.settings.path as string | undefined) ?? '',
    blueprint_type: template.type,
  });
  await updateEnvironmentRow(tx, environment.id, { latest_deployment_id: id });
}

async function create(
  tx: Connection,
  context: ActorContext,
  request: CreateEnvironment,
  source: ReturnType<typeof splitCredentials>,
): Promise<CreatedEnvironment> {
  const template = await insertTemplate(tx, context, {
    organizationId: request.organizationId,
    projectId: request.projectId,
    name: `single-use-template-for-${request.name}`,
    type: request.type,
    repository: source.repository,
    isSingleUse: true,
    settings: templateSettings(request),
    credentials: source.credentials,
    authorId: context.actor.userId,
  });
  const environment = await insertRow(tx, context, request, template);
  const home = {
    scope: 'ENVIRONMENT',
    scopeId: environment.id,
    organizationId: environment.organization_id,
    projectId: environment.project_id,
  } as const;
  await applyVariableChanges(tx, context, home, request.configurationChanges, 'body.configurationChanges');
  await recordAudit(tx, context, {
    organizationId: environment.organization_id,
    action: 'environment.created',
    entity: 'environment',
    entityId: environment.id,
    details: { name: request.name },
  });
  const { deployRequest } = request;
  if (request.preventAutoDeploy) await insertPlaceholder(tx, context, environment, template);
  else {
    await startDeployment(tx, context, environment, {
      type: 'deploy',
      trigger: deployRequest.triggerName ?? 'user',
      comment: deployRequest.comment,
      targets: deployRequest.targets,
      variableChanges: [],
      variableField: 'body.configurationChanges',
      gitUserData: deployRequest.gitUserData,
      customEnvironmentVariables: deployRequest.customServiceEnvironmentVariables,
      workflowDeploymentId: deployRequest.workflowDeploymentId,
      workflowDeploymentOptions: deployRequest.workflowDeploymentOptions,
    });
  }
  const stored = await getEnvironmentRow(tx, environment.id);
  const view = await environmentView(tx, context, stored as EnvironmentRow);
  return { ...view, status: request.preventAutoDeploy ? 'NEVER_DEPLOYED' : 'CREATED', blueprintId: template.id };
}

/**
 * The right was checked on the project.
 * @throws Refusal 400, 409 or 422 before anything is written
 */
export async function createEnvironment(context: ActorContext, body: CreateEnvironmentBody): Promise<CreatedEnvironment> {
  const request = withDeployRequest(normalizeCreateEnvironment(body));
  const source = splitCredentials(request.repository);
  checkSettings(request);
  await checkProject(context, request);
  checkApproval(context, request);
  await checkSource(context, request, source.repository);
  return inTransaction(context.db, (tx) => create(tx, context, request, source));
}
