/** Creates an environment and its first deployment, in one transaction; without a template it gets its own. */

import {
  type CreateEnvironment,
  type CreateEnvironmentBody,
  type CreateFromTemplateBody,
  type NewEnvironment,
  normalizeCreateEnvironment,
  normalizeCreateFromTemplate,
} from '#contract/environments/create-environment.ts';
import type { CreatedEnvironment } from '#contract/environments/shapes.ts';
import { withoutNulls } from '#contract/schema/without-nulls.ts';
import { generatedWorkspaceName } from '#protocol/workspace-name.ts';
import { environmentTemplate, templateColumns } from '../../code/templates/environment-template.ts';
import { templateSettings } from '../../code/templates/template-settings.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { applySetChanges, checkSetChanges } from '../../inputs/configuration-sets/change-assignments.ts';
import { applyVariableChanges } from '../../inputs/variables/apply-variable-changes.ts';
import { environmentHome } from '../../inputs/variables/levels.ts';
import { approvalColumns } from '../../rows/deployments/columns.ts';
import { insertDeployment } from '../../rows/deployments/deployment-store.ts';
import {
  insertEnvironment,
  type LockedEnvironment,
  updateEnvironmentRow,
  workspaceNameExists,
} from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { insertTemplate, type TemplateRow } from '../../rows/templates/template-store.ts';
import { ttlColumns } from '../../tenancy/lifetimes/lifespan.ts';
import { lifterColumns, liftersIn } from '../../tenancy/project-policies/lift-approval.ts';
import type { PolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { projectDemands } from '../../tenancy/project-policies/project-demands.ts';
import { loadStartFacts } from '../deployments/inputs/start-facts.ts';
import { startDeployment } from '../deployments/start-deployment.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { utc } from '../schedules/cron.ts';
import { storeDriftSchedule } from '../schedules/update-schedule.ts';
import { checkCreateFromTemplate, type TemplateOverrides } from './check-create-from-template.ts';
import {
  type CheckedEnvironment,
  checkCreateWithoutTemplate,
  checkWorkspaceName,
  type OwnSource,
} from './check-create-request.ts';
import { copiedCode } from './copied-code.ts';
import { environmentView } from './environment-view.ts';
import { driftOf } from './policy-defaults.ts';

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

/** The template of a new environment, and what the environment replaces of it. */
interface ChosenTemplate {
  readonly template: TemplateRow;
  readonly overrides: TemplateOverrides;
  /** The template of another environment, whose code was copied. */
  readonly copiedFrom?: string;
}

const noOverrides: TemplateOverrides = { template_revision: null, template_repository: null };

/**
 * User who switched approvals off. The default of the project lifts nothing, and neither does a request that
 * only repeats the same.
 * @throws MissingRight 403 for a caller who may not
 */
async function lifterOf(
  context: ActorContext,
  { approval: { wanted, field }, place, policy }: CheckedEnvironment,
): Promise<{ approval_lifted_by?: string | null }> {
  if (wanted !== false) return {};
  const demands = await projectDemands(context, place.projectId);
  const left = policy.requiresApprovalDefault ? [] : await liftersIn(context)(context.actor.userId, demands);
  if (left.length > 0) return {};
  return lifterColumns(context, undefined, false, demands, field);
}

async function insertRow(
  context: ActorContext,
  checked: CheckedEnvironment,
  { template, overrides }: ChosenTemplate,
): Promise<LockedEnvironment> {
  const { request, approval, place, policy } = checked;
  const { id, workspaceName } = await drawId(context, request.organizationId);
  const now = context.now();
  const home = { place, createdAt: now, policy };
  return insertEnvironment(context.db, {
    id,
    organization_id: request.organizationId,
    project_id: request.projectId,
    template_id: template.id,
    is_single_use_template: template.is_single_use,
    ...overrides,
    user_id: context.actor.userId,
    name: request.name,
    workspace_name: request.workspaceName ?? workspaceName,
    status: 'NEVER_DEPLOYED',
    resting_status: 'NEVER_DEPLOYED',
    requires_approval: approval.wanted ?? request.requiresApproval ?? true,
    ...(await lifterOf(context, checked)),
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
    ...(await ttlColumns(context, request.ttl, home, 'body.ttl')),
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
  const { requires_approval: isRequired } = environment;
  await insertDeployment(context.db, {
    id,
    environment_id: environment.id,
    organization_id: environment.organization_id,
    project_id: environment.project_id,
    type: 'deploy',
    status: 'NEVER_DEPLOYED',
    started_by: context.actor.userId,
    trigger: 'user',
    ...approvalColumns({ isRequired, decidedBy: 'environment', demandedIn: [] }),
    ...templateColumns(environmentTemplate(environment, template)),
  });
  return updateEnvironmentRow(context.db, environment, { latest_deployment_id: id });
}

async function storeDriftRequest(
  context: ActorContext,
  environment: LockedEnvironment,
  request: NewEnvironment,
  policy: PolicySettings,
): Promise<void> {
  const drift = request.driftDetectionRequest ?? driftOf(policy);
  const { autoDriftRemediation } = policy;
  if (!drift?.cron) {
    // Without a schedule, it holds for drift runs that people start.
    const unscheduled = { cron: '', timeZone: utc, isEnabled: false, autoDriftRemediation };
    if (autoDriftRemediation !== 'DISABLED') await storeDriftSchedule(context, environment, unscheduled);
    return;
  }
  await storeDriftSchedule(context, environment, {
    cron: drift.cron,
    timeZone: utc,
    isEnabled: drift.enabled,
    ...(autoDriftRemediation === 'DISABLED' ? {} : { autoDriftRemediation }),
  });
}

async function deployFirst(
  context: ActorContext,
  environment: LockedEnvironment,
  { deployRequest }: NewEnvironment,
): Promise<LockedEnvironment> {
  const facts = await loadStartFacts(context, environment, 'deploy');
  const started = await startDeployment(context, facts, {
    type: 'deploy',
    trigger: deployRequest.triggerName ?? 'user',
    comment: deployRequest.comment,
    upstreamEnvironmentId: deployRequest.upstreamEnvironmentId || undefined,
    targets: deployRequest.targets,
    gitUserData: deployRequest.gitUserData,
    customEnvironmentVariables: deployRequest.customServiceEnvironmentVariables,
  });
  return started.environment;
}

/** @throws Refusal 400 that names the id of a set that cannot be assigned */
async function assignFirstSets(
  context: ActorContext,
  environment: LockedEnvironment,
  setChanges: NewEnvironment['configurationSetChanges'],
): Promise<void> {
  const place = { home: inEnvironment(environment), environmentId: environment.id };
  for (const { field, ...changes } of setChanges)
    await applySetChanges(context, environment, await checkSetChanges(context, place, changes, field));
}

async function create(
  context: ActorContext,
  checked: CheckedEnvironment,
  chosen: ChosenTemplate,
): Promise<CreatedEnvironment> {
  const { request, policy } = checked;
  const { template, copiedFrom } = chosen;
  checkWorkspaceName(request.workspaceName, template.type);
  const environment = await insertRow(context, checked, chosen);
  const project = await getProjectRow(context.db, request.projectId);
  const home = environmentHome(environment, project?.hierarchy ?? request.projectId);
  await assignFirstSets(context, environment, request.configurationSetChanges);
  const changes = request.configurationChanges.map((change) => ({ ...change, isCopy: true }));
  await applyVariableChanges(context, home, changes, request.variableFields);
  const details = {
    name: request.name,
    ...(template.is_single_use ? {} : { templateId: template.id }),
    ...(copiedFrom === undefined ? {} : { copiedFrom }),
  };
  await recordEnvironmentAudit(context, environment, 'environment.created', details);
  await storeDriftRequest(context, environment, request, policy);
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

/** The template of an environment without one. */
async function insertOwnTemplate(
  context: ActorContext,
  { creationScope, creationScopeId, ...request }: CreateEnvironment,
  { repository, revision, credentials }: OwnSource,
): Promise<TemplateRow> {
  const settings = templateSettings({ ...request, revision });
  const template = await insertTemplate(context.db, context, {
    organizationId: request.organizationId,
    projectId: request.projectId,
    projectIds: [request.projectId],
    name: `single-use-template-for-${request.name}`,
    type: request.type,
    repository,
    isSingleUse: true,
    settings: withoutNulls({ creationScope, creationScopeId, ...settings }),
    credentials,
    authorId: context.actor.userId,
  });
  if (!template) throw new Error('A single-use template was not stored');
  return template;
}

/**
 * Creates an environment with a template of its own. The right was checked on the project.
 * @param copiedFrom the template of another environment that the code is from, for the audit trail
 * @throws Refusal 400, 409 or 422 before anything is written
 */
export async function createEnvironmentWithoutTemplate(
  context: ActorContext,
  body: CreateEnvironmentBody,
  copiedFrom?: string,
): Promise<CreatedEnvironment> {
  const { source, ...checked } = await checkCreateWithoutTemplate(context, normalizeCreateEnvironment(body));
  return inTransaction(context, async (context) => {
    const template = await insertOwnTemplate(context, checked.request, source);
    return create(context, checked, { template, overrides: noOverrides, copiedFrom });
  });
}

/**
 * Creates an environment from a template of its project. The right was checked on the project.
 * @throws Refusal 400, 403, 409 or 422 before anything is written
 */
export async function createEnvironmentFromTemplate(
  context: ActorContext,
  body: CreateFromTemplateBody,
  organizationId: string,
): Promise<CreatedEnvironment> {
  const copy = await copiedCode(context, body, organizationId);
  if (copy) return createEnvironmentWithoutTemplate(context, copy.body, copy.templateId);
  const request = normalizeCreateFromTemplate(body, organizationId);
  return inTransaction(context, async (context) => {
    const { checked, chosen } = await checkCreateFromTemplate(context, request);
    return create(context, checked, chosen);
  });
}
