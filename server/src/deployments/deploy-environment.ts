/** Stores what a deploy request changes, and makes the deployment, in one transaction. */
import {
  type DeployBody,
  type DeployRequest,
  normalizeDeployRequest,
} from '#contract/deployments/deploy-request.ts';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { variableChangeFields } from '#contract/variables/shapes.ts';
import { repositoryRefusal, revisionRefusal } from '#guards/source-guards.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { requireRight } from '../access/check-right.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField } from '../http/errors.ts';
import { getTemplateRow, updateTemplateSettings } from '../templates/template-store.ts';
import {
  checkDeployRequest,
  checkSetChanges,
  checkUpstream,
  checkWorkflowFields,
} from './check-deploy-request.ts';
import type { DeploymentRow } from './deployment-store.ts';
import { deploymentView } from './deployment-view.ts';
import {
  type EnvironmentRow,
  type LockedEnvironment,
  requireEnvironment,
  updateEnvironmentRow,
} from '../environments/environment-store.ts';
import { ttlColumns } from '../lifetimes/lifespan.ts';
import { type StartRequest, startDeployment } from './start-deployment.ts';
import { requireSource } from '../sources/upload-source.ts';

/**
 * Revision and repository count for this run and all later ones; with a type that only looks, for this run.
 * @returns what counts for this run only
 */
async function changeSource(
  context: ActorContext,
  environment: EnvironmentRow,
  request: DeployRequest,
): Promise<Pick<StartRequest, 'revision' | 'repository'>> {
  if (request.blueprintId !== undefined && request.blueprintId !== environment.template_id)
    throw badField(
      'body.blueprintId',
      'must be the template of this environment: it was made without a shared one',
    );
  if (request.blueprintRevision === undefined && request.blueprintRepository === undefined) return {};
  const refused = request.blueprintRevision ? revisionRefusal(request.blueprintRevision) : null;
  if (refused) throw badField('body.blueprintRevision', `is refused: ${refused}`);
  const allowed = { httpHosts: context.settings.gitHttpHosts, localPaths: context.settings.gitLocalPaths };
  const moved = request.blueprintRepository ? repositoryRefusal(request.blueprintRepository, allowed) : null;
  if (moved) throw badField('body.blueprintRepository', `is refused: ${moved}`);
  const template = await getTemplateRow(context.db, environment.template_id);
  if (!template) return {};
  const repository = request.blueprintRepository || template.repository;
  // The tokens of an environment go where its repository is: who moves it must be allowed to choose it.
  if (repository !== template.repository)
    requireRight(
      context.actor,
      environment.organization_id,
      'EDIT_VCS_ENVIRONMENT',
      '/body/blueprintRepository',
    );
  if (planOnlyTypes.includes(request.deploymentType))
    return { repository, revision: request.blueprintRevision };
  const settings = request.blueprintRevision === undefined ? {} : { revision: request.blueprintRevision };
  await updateTemplateSettings(context.db, template, repository, settings, context.now());
  return {};
}

/** An environment whose life is over is not brought back to be destroyed at once, or to live for ever. */
async function lifeOf(context: ActorContext, environment: EnvironmentRow, request: DeployRequest) {
  const home = { organizationId: environment.organization_id, createdAt: environment.created_at };
  if (request.ttl !== undefined) return ttlColumns(context, request.ttl, home, 'body.ttl');
  const end = environment.lifespan_end_at;
  if (request.deploymentType === 'deploy' && end && end <= context.now())
    throw badField(
      'body.ttl',
      `is required: the life of environment "${environment.name}" ended at ${end.toISOString()}`,
    );
  return {};
}

async function changeEnvironment(
  context: ActorContext,
  environment: LockedEnvironment,
  request: DeployRequest,
): Promise<LockedEnvironment> {
  const { assign, unassign } = request.configurationSetChanges;
  const sets = [...new Set([...environment.configuration_set_ids, ...assign])].filter(
    (id) => !unassign.includes(id),
  );
  return updateEnvironmentRow(context.db, environment, {
    configuration_set_ids: sets,
    ...(request.envName === undefined ? {} : { name: request.envName }),
    ...(await lifeOf(context, environment, request)),
  });
}

/** Location of each variable change; those inside `deployRequest` win, as its other fields do. */
function variableFieldsOf({ configurationChanges: outer, deployRequest }: DeployBody): string[] {
  const inner = deployRequest?.configurationChanges;
  return inner === undefined
    ? variableChangeFields(outer, 'body.configurationChanges')
    : variableChangeFields(inner, 'body.deployRequest.configurationChanges');
}

/** The right was checked. @throws Refusal before anything is written */
export async function deployEnvironment(
  context: ActorContext,
  environmentId: string,
  body: DeployBody,
): Promise<Deployment & { id: string }> {
  const request = normalizeDeployRequest(body);
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    checkDeployRequest(request, 'body');
    checkWorkflowFields(request, 'body');
    checkSetChanges(
      request.configurationSetChanges,
      environment.configuration_set_ids,
      'body.configurationSetChanges',
    );
    await checkUpstream(context, environment.organization_id, request, 'body');
    if (request.deploymentType === 'task')
      requireRight(context.actor, environment.organization_id, 'RUN_TASK', '/body/deploymentType task');
    if (request.userRequiresApproval === false)
      requireRight(
        context.actor,
        environment.organization_id,
        'RUN_APPLY',
        '/body/userRequiresApproval false',
      );
    const source = request.sourceId
      ? await requireSource(context, environment.id, request.sourceId, 'body.sourceId')
      : null;
    const thisRun = await changeSource(context, environment, request);
    const deployment = await startDeployment(
      context,
      await changeEnvironment(context, environment, request),
      {
        type: request.deploymentType,
        ...thisRun,
        ...(source ? { sourceId: source.id, path: source.path } : {}),
        taskPayload: request.taskPayload,
        followsLastDeploy: request.deploymentType === 'task',
        trigger: request.triggerName ?? 'user',
        comment: request.comment,
        targets: request.targets,
        variableChanges: request.configurationChanges,
        variableFields: variableFieldsOf(body),
        requiresApproval: request.userRequiresApproval,
        gitUserData: request.gitUserData,
        customEnvironmentVariables: request.customServiceEnvironmentVariables,
      },
    );
    return deploymentView(context, deployment);
  });
}

export interface DestroyRequest {
  readonly checkoutUpdatedCode?: boolean;
  readonly skipStateRefresh?: boolean;
  readonly isScheduledRun?: boolean;
  readonly revision?: string;
  readonly comment?: string;
  readonly triggerName?: 'user' | 'terraform-cli' | 'workflow';
  readonly workflowDeploymentId?: string;
}

export async function destroyEnvironment(
  context: ActorContext,
  environmentId: string,
  request: DestroyRequest,
): Promise<Deployment & { id: string }> {
  checkWorkflowFields(request, 'body');
  const refused = request.revision ? (revisionRefusal(request.revision) ?? null) : null;
  if (refused) throw badField('query.revision', `is refused: ${refused}`);
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, environmentId);
    const deployment: DeploymentRow = await startDeployment(context, environment, {
      type: 'destroy',
      trigger: request.triggerName ?? 'user',
      comment: request.comment,
      targets: [],
      variableChanges: [],
      variableFields: [],
      revision: request.revision || undefined,
      // The commit that was deployed last, unless the request names a revision or wants the newest code.
      followsLastDeploy: !request.revision && request.checkoutUpdatedCode !== true,
      skipStateRefresh: request.skipStateRefresh,
      isScheduledRun: request.isScheduledRun,
    });
    return deploymentView(context, deployment);
  });
}
