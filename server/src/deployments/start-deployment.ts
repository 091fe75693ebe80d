/** Makes a deployment: refuses, queues or starts it, in one transaction with everything that it changes. */
import type { Updateable } from 'kysely';
import type {
  DeploymentStatus,
  DeploymentType,
  EnvironmentStatus,
  Trigger,
} from '#contract/schema/enumerations.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import { deploymentSteps, isRunnable } from '#protocol/tools/index.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import type { EnvironmentTable } from '../database/schema.ts';
import type { GitUserData } from '../database/stored.ts';
import { Refusal } from '../http/errors.ts';
import { holdProjectRow } from '../projects/project-store.ts';
import { getTemplateRow, type TemplateRow } from '../templates/template-store.ts';
import { approvalByVariable } from '../variables/approval-variable.ts';
import { applyVariableChanges } from '../variables/apply-variable-changes.ts';
import { resolveVariables } from '../variables/resolve-variables.ts';
import { startNow } from './advance-queue.ts';
import { decideStart } from './decide-start.ts';
import { factsAtStart } from './deployment-facts.ts';
import { type DeploymentRow, insertDeployment, openDeployments } from './deployment-store.ts';
import { endIdleDestroy, refreshEnvironment } from './move-deployment.ts';
import {
  type EnvironmentRow,
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../environments/environment-store.ts';
import { taskRefusal, withLastVariables } from './last-deploy.ts';
import { mayHaveResources, recordsResources } from './may-have-resources.ts';
import { sealInputs, splitCustomVariables } from './run-inputs.ts';
import { getStateLock } from '../state/state-lock-store.ts';
import { insertSteps } from '../logs/step-store.ts';

export interface StartRequest {
  readonly type: DeploymentType;
  readonly trigger: Trigger;
  readonly comment?: string;
  readonly targets: readonly string[];
  readonly variableChanges: readonly VariableChange[];
  /** Location of each change in the request. */
  readonly variableFields: readonly string[];
  /** For this run, and the environment's default from now on. */
  readonly requiresApproval?: boolean;
  readonly gitUserData?: GitUserData;
  readonly isScheduledRun?: boolean;
  readonly skipStateRefresh?: boolean;
  /** Override the template's for this run only. */
  readonly revision?: string;
  readonly repository?: string;
  readonly path?: string;
  /** Runs at the commit that was deployed last when its turn comes. */
  readonly followsLastDeploy?: boolean;
  /** Shell commands of a task. */
  readonly taskPayload?: string;
  /** Uploaded code of a remote plan. */
  readonly sourceId?: string;
  readonly customEnvironmentVariables?: Record<string, string>;
  readonly workflowDeploymentId?: string;
  readonly workflowDeploymentOptions?: unknown;
}

/** Where the variables of an environment are located, and the scopes it inherits from, outermost first. */
export function variableHome(environment: EnvironmentRow) {
  return {
    scope: 'ENVIRONMENT',
    scopeId: environment.id,
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    inherits: [
      { scope: 'GLOBAL', scopeId: environment.organization_id },
      { scope: 'BLUEPRINT', scopeId: environment.template_id },
      { scope: 'PROJECT', scopeId: environment.project_id },
    ],
  } as const;
}

/** Scopes of the variables that an environment runs with, outermost first. */
export function variableHomes(environment: EnvironmentRow) {
  const home = variableHome(environment);
  return [...home.inherits, home];
}

async function insertRow(
  context: ActorContext,
  environment: EnvironmentRow,
  template: TemplateRow,
  request: StartRequest,
  status: DeploymentStatus,
): Promise<DeploymentRow> {
  const now = context.now();
  const current = await resolveVariables(context, variableHomes(environment));
  const resolved =
    request.type === 'destroy' ? await withLastVariables(context, environment.id, current) : current;
  const [unusable] = resolved.unusable;
  // Whatever became of its variables, an environment can be destroyed.
  if (unusable !== undefined && request.type !== 'destroy') throw new Refusal('bad_request', unusable);
  const custom = splitCustomVariables(request.customEnvironmentVariables ?? {});
  const id = context.newId();
  const revision = request.revision ?? (template.settings.revision as string | undefined) ?? '';
  const repository = request.repository ?? template.repository;
  const facts = await factsAtStart(
    context.db,
    {
      id,
      type: request.type,
      started_by: context.actor.userId,
      git_user_data: request.gitUserData ?? null,
      repository,
    },
    environment,
    template,
  );
  return insertDeployment(context.db, {
    id,
    environment_id: environment.id,
    organization_id: environment.organization_id,
    project_id: environment.project_id,
    type: request.type,
    status,
    started_by: context.actor.userId,
    trigger: request.trigger,
    is_scheduled_run: request.isScheduledRun ?? false,
    queued_at: now,
    started_at: status === 'QUEUED' ? null : now,
    updated_at: now,
    comment: request.comment ?? null,
    requires_approval: approvalByVariable(resolved.environment) ?? environment.requires_approval,
    skip_state_refresh: request.skipStateRefresh ?? false,
    targets: [...request.targets],
    git_user_data: request.gitUserData ? JSON.stringify(request.gitUserData) : null,
    workflow_deployment_id: request.workflowDeploymentId ?? null,
    workflow_deployment_options: request.workflowDeploymentOptions
      ? JSON.stringify(request.workflowDeploymentOptions)
      : null,
    custom_environment_variables: JSON.stringify(custom.shown),
    facts: JSON.stringify(facts),
    blueprint_id: template.id,
    blueprint_name: template.name,
    blueprint_repository: repository,
    blueprint_revision: request.sourceId ? '' : revision,
    blueprint_path: request.path ?? (template.settings.path as string | undefined) ?? '',
    blueprint_type: template.type,
    source_id: request.sourceId ?? null,
    follows_last_deploy: request.followsLastDeploy ?? false,
    sealed_inputs: sealInputs(context, id, {
      environment: resolved.environment,
      terraform: resolved.terraform,
      custom: custom.secret,
      ...(request.taskPayload === undefined ? {} : { taskPayload: request.taskPayload }),
    }),
    variables: JSON.stringify(resolved.rows),
  });
}

async function archivedProjectOf(tx: Connection, environment: EnvironmentRow): Promise<string | null> {
  const project = await holdProjectRow(tx, environment.project_id);
  return project?.is_archived ? project.name : null;
}

/**
 * What a request changes of the environment itself, for good. A deployment brings an archived environment
 * back.
 */
function changesOf(environment: EnvironmentRow, request: StartRequest): Updateable<EnvironmentTable> {
  return {
    ...(environment.is_archived ? { is_archived: false } : {}),
    ...(request.requiresApproval === undefined ? {} : { requires_approval: request.requiresApproval }),
  };
}

/** None for a tool that this version cannot run: a destroy with nothing to destroy needs none. */
function stepsOf(tool: string, type: DeploymentType): string[] {
  return isRunnable(tool) ? deploymentSteps(tool, type) : [];
}

/**
 * The caller has checked the right.
 * @returns the deployment, IN_PROGRESS, QUEUED, or already ended where there was nothing to destroy
 * @throws Refusal before the first write of a deployment that may not be made
 */
export async function startDeployment(
  context: ActorContext,
  environment: LockedEnvironment,
  request: StartRequest,
): Promise<DeploymentRow> {
  const template = await getTemplateRow(context.db, environment.template_id);
  if (!template) throw new Error(`Environment ${environment.id} has no template`);
  const open = await openDeployments(context.db, environment.id);
  const decision = decideStart({
    type: request.type,
    tool: template.type,
    environment: {
      name: environment.name,
      status: environment.status as EnvironmentStatus,
      isLocked: environment.is_locked,
      lockReason: environment.lock_reason,
      isArchived: environment.is_archived,
    },
    archivedProject: await archivedProjectOf(context.db, environment),
    open: open.map((row) => ({ id: row.id, type: row.type, status: row.status as DeploymentStatus })),
    mayHaveResources: await mayHaveResources(context.db, environment),
    isStateLocked: (await getStateLock(context.db, environment.id)) !== undefined,
    recordsResources: await recordsResources(context.db, environment),
  });
  if (decision.kind === 'refuse') throw new Refusal(decision.code, decision.message);
  const refused =
    request.type === 'task' && decision.kind === 'start' ? await taskRefusal(context.db, environment) : null;
  if (refused !== null) throw new Refusal('conflict', refused);
  const home = variableHome(environment);
  await applyVariableChanges(context, home, request.variableChanges, request.variableFields);
  const changes = changesOf(environment, request);
  const current =
    Object.keys(changes).length === 0
      ? environment
      : await updateEnvironmentRow(context.db, environment, changes);
  const deployment = await insertRow(
    context,
    current,
    template,
    request,
    decision.kind === 'queue' ? 'QUEUED' : 'IN_PROGRESS',
  );
  await insertSteps(context.db, deployment.id, stepsOf(template.type, request.type), context.newId);
  const started = decision.kind === 'start' ? await startNow(context, deployment) : deployment;
  const refreshed = await refreshEnvironment(context, current);
  await context.react('deploymentMoved', { deployment: started, environment: refreshed, from: null });
  const ended =
    decision.kind === 'nothing-to-destroy'
      ? (await endIdleDestroy(context, { deployment: started, environment: refreshed })).deployment
      : started;
  await recordAudit(context, {
    organizationId: environment.organization_id,
    action: 'deployment.started',
    entity: 'deployment',
    entityId: deployment.id,
    details: { type: request.type, environmentId: environment.id, trigger: request.trigger },
  });
  return ended;
}
