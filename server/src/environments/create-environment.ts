/** Creates an environment with its own template and its first deployment, in one transaction. */
import {
  type CreateEnvironment,
  type CreateEnvironmentBody,
  normalizeCreateEnvironment,
} from '#contract/environments/create-environment.ts';
import { variableChangeFields } from '#contract/variables/shapes.ts';
import type { CreatedEnvironment } from '#contract/environments/shapes.ts';
import { generatedWorkspaceName } from '#protocol/workspace-name.ts';
import { recordEnvironmentAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import type { TemplateSettings } from '../database/stored.ts';
import { splitCredentials } from '../templates/repository-credentials.ts';
import { insertTemplate, type TemplateRow } from '../templates/template-store.ts';
import { applyVariableChanges } from '../variables/apply-variable-changes.ts';
import { checkCreateRequest, withDeployRequest, placeOf } from './check-create-request.ts';
import { checkedNextRun } from '../schedules/cron.ts';
import { insertDeployment } from '../deployments/deployment-store.ts';
import {
  type LockedEnvironment,
  insertEnvironment,
  updateEnvironmentRow,
  workspaceNameExists,
} from './environment-store.ts';
import { environmentView } from './environment-view.ts';
import { ttlColumns } from '../lifetimes/lifespan.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { startDeployment, variableHome } from '../deployments/start-deployment.ts';
import { storeSchedule } from '../schedules/update-schedule.ts';

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
  return Object.fromEntries(
    templateSettingNames.filter((name) => request[name] !== undefined).map((name) => [name, request[name]]),
  );
}

/** An id whose end no other environment's generated workspace has. */
async function drawId(
  context: ActorContext,
  organizationId: string,
): Promise<{ id: string; workspaceName: string }> {
  for (;;) {
    const id = context.newId();
    const workspaceName = generatedWorkspaceName(id);
    if (!(await workspaceNameExists(context.db, organizationId, workspaceName))) return { id, workspaceName };
  }
}

async function insertRow(
  context: ActorContext,
  request: CreateEnvironment,
  template: TemplateRow,
): Promise<LockedEnvironment> {
  const { id, workspaceName } = await drawId(context, request.organizationId);
  const now = context.now();
  return insertEnvironment(context.db, {
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
    tags: request.tags ?? [],
    ...(await ttlColumns(context, request.ttl, { place: placeOf(request), createdAt: now }, 'body.ttl')),
    configuration_set_ids: request.configurationSetChanges.assign,
    created_at: now,
    updated_at: now,
  });
}

/** Readers expect a deployment to look at, even if none was requested. */
async function insertPlaceholder(
  context: ActorContext,
  environment: LockedEnvironment,
  template: TemplateRow,
): Promise<LockedEnvironment> {
  const id = context.newId();
  await insertDeployment(context.db, {
    id,
    environment_id: environment.id,
    organization_id: environment.organization_id,
    project_id: environment.project_id,
    type: 'deploy',
    status: 'NEVER_DEPLOYED',
    started_by: context.actor.userId,
    trigger: 'user',
    requires_approval: environment.requires_approval,
    template_id: template.id,
    template_name: template.name,
    repository: template.repository,
    revision: template.settings.revision ?? '',
    path: template.settings.path ?? '',
    tool: template.type,
  });
  return updateEnvironmentRow(context.db, environment, { latest_deployment_id: id });
}

async function storeDriftSchedule(
  context: ActorContext,
  environment: LockedEnvironment,
  request: CreateEnvironment,
): Promise<void> {
  const { enabled = false, cron } = request.driftDetectionRequest ?? {};
  if (!cron) return;
  const next = checkedNextRun(cron, context.now(), 'body.driftDetectionRequest.cron');
  await storeSchedule(context, environment, {
    action: 'driftDetection',
    cron,
    isEnabled: enabled,
    nextRunAt: enabled ? next : null,
  });
}

async function deployFirst(
  context: ActorContext,
  environment: LockedEnvironment,
  { deployRequest }: CreateEnvironment,
): Promise<LockedEnvironment> {
  const started = await startDeployment(context, environment, {
    type: 'deploy',
    trigger: deployRequest.triggerName ?? 'user',
    comment: deployRequest.comment,
    targets: deployRequest.targets,
    variableChanges: [],
    variableFields: [],
    gitUserData: deployRequest.gitUserData,
    customEnvironmentVariables: deployRequest.customServiceEnvironmentVariables,
  });
  return started.environment;
}

async function create(
  context: ActorContext,
  request: CreateEnvironment,
  source: ReturnType<typeof splitCredentials>,
  variableFields: readonly string[],
): Promise<CreatedEnvironment> {
  const template = await insertTemplate(context.db, context, {
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
  const environment = await insertRow(context, request, template);
  const home = variableHome(environment);
  await applyVariableChanges(context, home, request.configurationChanges, variableFields);
  await recordEnvironmentAudit(context, environment, 'environment.created', { name: request.name });
  await storeDriftSchedule(context, environment, request);
  await recordEnvironmentEvent(context, environment, 'created');
  const started = request.preventAutoDeploy
    ? await insertPlaceholder(context, environment, template)
    : await deployFirst(context, environment, request);
  return {
    ...(await environmentView(context, started)),
    status: request.preventAutoDeploy ? 'NEVER_DEPLOYED' : 'CREATED',
    blueprintId: template.id,
  };
}

/**
 * The right was checked on the project.
 * @throws Refusal 400, 409 or 422 before anything is written
 */
export async function createEnvironment(
  context: ActorContext,
  body: CreateEnvironmentBody,
): Promise<CreatedEnvironment> {
  const request = withDeployRequest(normalizeCreateEnvironment(body));
  await checkCreateRequest(context, request, body);
  // Credentials belong to the host of `repository`, wherever the code is finally read.
  const { credentials } = splitCredentials(body.repository);
  const source = { repository: splitCredentials(request.repository).repository, credentials };
  const variableFields = [
    ...variableChangeFields(body.configurationChanges, 'body.configurationChanges'),
    ...variableChangeFields(
      body.deployRequest?.configurationChanges,
      'body.deployRequest.configurationChanges',
    ),
  ];
  return inTransaction(context, (context) => create(context, request, source, variableFields));
}
