/** The content of a deploy or destroy request, checked before anything is written. */

import type { DeployBody, DeployRequest } from '#contract/deployments/deploy-request.ts';
import { variableChangeFields } from '#contract/variables/shapes.ts';
import { requireSource } from '../../../code/sources/require-source.ts';
import { checkRevision } from '../../../code/templates/check-source.ts';
import { requireRight } from '../../../framework/access/check-right.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { badField } from '../../../ground/errors.ts';
import { checkSetChanges, type SetChanges } from '../../../inputs/configuration-sets/change-assignments.ts';
import type { EnvironmentRow } from '../../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../../rows/places.ts';
import { appliesChanges } from '../../../tenancy/project-policies/remediation-strategy.ts';
import type { LastingChanges, StartRequest, StoredFacts } from '../inputs/start-facts.ts';
import { checkDeployRequest, checkUpstream, checkWorkflowFields } from './check-deploy-request.ts';
import { readSettings } from './read-settings.ts';
import { readSource } from './read-source.ts';
import { unrecordedImports } from './unrecorded-imports.ts';

/** An environment that has expired is not deployed to be destroyed at once, or to be kept forever. */
function checkExpired(context: ActorContext, { environment }: StoredFacts, request: DeployRequest): void {
  const end = environment.lifespan_end_at;
  if (request.ttl === undefined && request.deploymentType === 'deploy' && end && end <= context.now())
    throw badField(
      'body.ttl',
      `is required: environment "${environment.name}" expired at ${end.toISOString()}`,
    );
}

/** Location of each variable change; those inside `deployRequest` win, as its other fields do. */
function variableFieldsOf({ configurationChanges: outer, deployRequest }: DeployBody): string[] {
  const inner = deployRequest?.configurationChanges;
  return inner === undefined
    ? variableChangeFields(outer, 'body.configurationChanges')
    : variableChangeFields(inner, 'body.deployRequest.configurationChanges');
}

/** Those inside `deployRequest` win, as its other fields do. */
function setChangesOf(
  context: ActorContext,
  environment: EnvironmentRow,
  { configurationSetChanges: changes }: DeployRequest,
  { deployRequest }: DeployBody,
): Promise<SetChanges> {
  const isInner = deployRequest?.configurationSetChanges !== undefined;
  const field = `body${isInner ? '.deployRequest' : ''}.configurationSetChanges`;
  const place = { home: inEnvironment(environment), environmentId: environment.id };
  return checkSetChanges(context, place, changes, field);
}

/** A run, and what changes for it and all later ones. */
export interface CheckedRequest {
  readonly run: StartRequest;
  readonly changes: LastingChanges;
}

/**
 * @param request the normal form of the body
 * @throws Refusal 400 that names the field, 403 for a part of the request that needs a further right
 */
export async function readDeployRequest(
  context: ActorContext,
  facts: StoredFacts,
  body: DeployBody,
  request: DeployRequest,
): Promise<CheckedRequest> {
  const { environment } = facts;
  const need = (right: 'RUN_PLAN' | 'RUN_TASK' | 'RUN_APPLY', why: string) =>
    requireRight(context.actor, inEnvironment(environment), right, why);
  if (request.deploymentType === 'task') need('RUN_TASK', '/body/deploymentType task');
  else need('RUN_PLAN', 'This');
  checkDeployRequest(request, 'body');
  checkExpired(context, facts, request);
  checkWorkflowFields(request, 'body');
  const setChanges = await setChangesOf(context, environment, request, body);
  await checkUpstream(context, environment.organization_id, request, 'body');
  if (request.userRequiresApproval === false) need('RUN_APPLY', '/body/userRequiresApproval false');
  const strategy = request.autoDriftRemediationStrategy;
  if (appliesChanges(strategy)) need('RUN_APPLY', `/body/autoDriftRemediationStrategy ${strategy}`);
  const { codeChange, ...source } = await readSource(context, facts, request);
  const uploaded = request.sourceId
    ? await requireSource(context, environment.id, request.sourceId, 'body.sourceId')
    : null;
  const changes: LastingChanges = {
    variableChanges: request.configurationChanges,
    variableFields: variableFieldsOf(body),
    settingsChange: await readSettings(context, facts, request),
    setChanges,
    codeChange,
  };
  const run: StartRequest = {
    type: request.deploymentType,
    ...source,
    ...(uploaded ? { sourceId: uploaded.id, path: uploaded.path } : {}),
    ...(request.deploymentType === 'task' ? { taskPayload: request.taskPayload } : {}),
    followsLastDeploy: request.deploymentType === 'task',
    trigger: request.triggerName ?? 'user',
    comment: request.comment,
    upstreamEnvironmentId: request.upstreamEnvironmentId || undefined,
    driftRemediation: request.autoDriftRemediationStrategy,
    targets: request.targets,
    gitUserData: request.gitUserData,
    customEnvironmentVariables: request.customServiceEnvironmentVariables,
    ...(request.importUnrecorded === true ? { imports: await unrecordedImports(context.db, facts) } : {}),
  };
  return { run, changes };
}

export interface DestroyRequest {
  readonly checkoutUpdatedCode?: boolean;
  readonly skipStateRefresh?: boolean;
  readonly requiresApproval?: boolean;
  readonly isScheduledRun?: boolean;
  readonly revision?: string;
  readonly comment?: string;
  readonly triggerName?: 'user' | 'terraform-cli' | 'workflow';
  readonly workflowDeploymentId?: string;
}

/**
 * @throws Refusal 400 for a revision that git would not read as one, 403 for a caller who may not switch approvals off
 */
export async function readDestroyRequest(
  context: ActorContext,
  facts: StoredFacts,
  request: DestroyRequest,
): Promise<CheckedRequest> {
  checkWorkflowFields(request, 'body');
  checkRevision(request.revision, 'query.revision');
  const { requiresApproval: userRequiresApproval } = request;
  const field = '/query/requiresApproval';
  if (userRequiresApproval === false)
    requireRight(context.actor, inEnvironment(facts.environment), 'RUN_APPLY', `${field} false`);
  const requested = userRequiresApproval === undefined ? {} : { userRequiresApproval };
  const run: StartRequest = {
    type: 'destroy',
    trigger: request.triggerName ?? 'user',
    comment: request.comment,
    targets: [],
    revision: request.revision || undefined,
    // The commit that was deployed last, unless the request names a revision or wants the newest code.
    followsLastDeploy: !request.revision && request.checkoutUpdatedCode !== true,
    skipStateRefresh: request.skipStateRefresh,
    isScheduledRun: request.isScheduledRun,
  };
  const settingsChange = await readSettings(context, facts, requested, { approvalField: field });
  return { run, changes: { variableChanges: [], variableFields: [], settingsChange } };
}
