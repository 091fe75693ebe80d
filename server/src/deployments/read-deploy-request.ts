/** The content of a deploy or destroy request, checked before anything is written. */
import { inEnvironment } from '../access/access.ts';
import {
  type DeployBody,
  type DeployRequest,
  normalizeDeployRequest,
} from '#contract/deployments/deploy-request.ts';
import { variableChangeFields } from '#contract/variables/shapes.ts';
import { repositoryRefusal, revisionRefusal } from '#guards/source-guards.ts';
import { planOnlyTypes } from '#protocol/tools/steps.ts';
import { requireRight } from '../access/check-right.ts';
import type { ActorContext } from '../context.ts';
import { requireTokenFor } from '../git-tokens/require-token-for.ts';
import { badField } from '../http/errors.ts';
import { ttlColumns } from '../lifetimes/lifespan.ts';
import { requireSource } from '../sources/source-store.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import {
  checkDeployRequest,
  checkSetChanges,
  checkUpstream,
  checkWorkflowFields,
} from './check-deploy-request.ts';
import type { StartRequest, StoredFacts } from './start-facts.ts';
import { unrecordedImports } from './unrecorded-imports.ts';

/** Revision and repository count for this run and all later ones; with a type that only plans, for this run. */
async function sourceOf(
  context: ActorContext,
  { environment, template }: StoredFacts,
  request: DeployRequest,
): Promise<Pick<StartRequest, 'revision' | 'repository' | 'templateChanges'>> {
  if (request.blueprintId !== undefined && request.blueprintId !== environment.template_id)
    throw badField(
      'body.blueprintId',
      'must be the template of this environment: it was created without a shared one',
    );
  if (request.blueprintRevision === undefined && request.blueprintRepository === undefined) return {};
  const refused = request.blueprintRevision ? revisionRefusal(request.blueprintRevision) : null;
  if (refused) throw badField('body.blueprintRevision', `is refused: ${refused}`);
  const allowed = { httpHosts: context.settings.gitHttpHosts, localPaths: context.settings.gitLocalPaths };
  const moved = request.blueprintRepository ? repositoryRefusal(request.blueprintRepository, allowed) : null;
  if (moved) throw badField('body.blueprintRepository', `is refused: ${moved}`);
  const repository = request.blueprintRepository || template.repository;
  // The tokens of an environment go where its repository is: who moves it must be allowed to choose it.
  if (repository !== template.repository)
    requireRight(
      context.actor,
      inEnvironment(environment),
      'EDIT_VCS_ENVIRONMENT',
      '/body/blueprintRepository',
    );
  const tokenId = template.settings.tokenId as string | undefined;
  if (tokenId && request.blueprintRepository) {
    const { organization_id: organizationId } = template;
    const { project_id: projectId } = environment;
    await requireTokenFor(
      context.db,
      { organizationId, projectId, tokenId, repository },
      'body.blueprintRepository',
    );
  }
  const revision = request.blueprintRevision;
  if (planOnlyTypes.includes(request.deploymentType)) return { repository, revision };
  return { templateChanges: { repository, settings: revision === undefined ? {} : { revision } } };
}

/** An environment that has expired is not deployed to be destroyed at once, or to be kept forever. */
async function lifetimeOf(context: ActorContext, environment: EnvironmentRow, request: DeployRequest) {
  const home = { place: inEnvironment(environment), createdAt: environment.created_at };
  if (request.ttl !== undefined) return ttlColumns(context, request.ttl, home, 'body.ttl');
  const end = environment.lifespan_end_at;
  if (request.deploymentType === 'deploy' && end && end <= context.now())
    throw badField(
      'body.ttl',
      `is required: environment "${environment.name}" expired at ${end.toISOString()}`,
    );
  return {};
}

async function environmentChanges(
  context: ActorContext,
  environment: EnvironmentRow,
  request: DeployRequest,
): Promise<StartRequest['environmentChanges']> {
  const { assign, unassign } = request.configurationSetChanges;
  const sets = [...new Set([...environment.configuration_set_ids, ...assign])].filter(
    (id) => !unassign.includes(id),
  );
  return {
    ...(assign.length + unassign.length === 0 ? {} : { configuration_set_ids: sets }),
    ...(request.envName === undefined ? {} : { name: request.envName }),
    ...(request.userRequiresApproval === undefined
      ? {}
      : { requires_approval: request.userRequiresApproval }),
    ...(await lifetimeOf(context, environment, request)),
  };
}

/** Location of each variable change; those inside `deployRequest` win, as its other fields do. */
function variableFieldsOf({ configurationChanges: outer, deployRequest }: DeployBody): string[] {
  const inner = deployRequest?.configurationChanges;
  return inner === undefined
    ? variableChangeFields(outer, 'body.configurationChanges')
    : variableChangeFields(inner, 'body.deployRequest.configurationChanges');
}

/** @throws Refusal 400 that names the field, 403 for a part of the request that needs a further right */
export async function readDeployRequest(
  context: ActorContext,
  facts: StoredFacts,
  body: DeployBody,
): Promise<StartRequest> {
  const request = normalizeDeployRequest(body);
  const { environment } = facts;
  const need = (right: 'RUN_TASK' | 'RUN_APPLY', why: string) =>
    requireRight(context.actor, inEnvironment(environment), right, why);
  checkDeployRequest(request, 'body');
  checkWorkflowFields(request, 'body');
  const { configurationSetChanges: sets } = request;
  checkSetChanges(sets, environment.configuration_set_ids, 'body.configurationSetChanges');
  await checkUpstream(context, environment.organization_id, request, 'body');
  if (request.deploymentType === 'task') need('RUN_TASK', '/body/deploymentType task');
  if (request.userRequiresApproval === false) need('RUN_APPLY', '/body/userRequiresApproval false');
  const source = request.sourceId
    ? await requireSource(context, environment.id, request.sourceId, 'body.sourceId')
    : null;
  return {
    type: request.deploymentType,
    ...(await sourceOf(context, facts, request)),
    ...(source ? { sourceId: source.id, path: source.path } : {}),
    ...(request.deploymentType === 'task' ? { taskPayload: request.taskPayload } : {}),
    followsLastDeploy: request.deploymentType === 'task',
    trigger: request.triggerName ?? 'user',
    comment: request.comment,
    targets: request.targets,
    variableChanges: request.configurationChanges,
    variableFields: variableFieldsOf(body),
    environmentChanges: await environmentChanges(context, environment, request),
    gitUserData: request.gitUserData,
    customEnvironmentVariables: request.customServiceEnvironmentVariables,
    ...(request.importUnrecorded === true ? { imports: await unrecordedImports(context.db, facts) } : {}),
  };
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

/** @throws Refusal 400 for a revision that git would not read as one */
export function readDestroyRequest(request: DestroyRequest): StartRequest {
  checkWorkflowFields(request, 'body');
  const refused = request.revision ? (revisionRefusal(request.revision) ?? null) : null;
  if (refused) throw badField('query.revision', `is refused: ${refused}`);
  return {
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
  };
}
