/** The checks of a new environment before anything is written. */

import type {
  CreateEnvironment,
  CreateEnvironmentBody,
  NewEnvironment,
} from '#contract/environments/create-environment.ts';
import { namespaceRefusal, typeRefusal } from '#contract/templates/setting-rules.ts';
import { retryRefusal } from '#guards/retry-rule.ts';
import { isRunnable, runnableTools, toolFacts } from '#protocol/tools/index.ts';
import { checkCredentials } from '../../code/templates/check-credentials.ts';
import {
  addressOf,
  checkFile,
  checkPath,
  checkRepository,
  checkRevision,
} from '../../code/templates/check-source.ts';
import { splitCredentials } from '../../code/templates/repository-credentials.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, conflict, unknownEntity } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { type PolicySettings, readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { checkDeployRequest } from '../deployments/requests/check-deploy-request.ts';
import { checkedNextRun } from '../schedules/cron.ts';
import { checkCreateReferences, checkProjects } from './check-create-references.ts';
import { checkPolicyOfNew, withPolicyDefaults } from './policy-defaults.ts';

/**
 * `deployRequest` applies to a new environment as a deploy with the same fields would: its name replaces that of
 * the environment. Only a `ttl` outside of it wins.
 */
export function withDeployRequest<R extends NewEnvironment>(request: R): R {
  const { envName, ttl } = request.deployRequest;
  return { ...request, name: envName ?? request.name, ttl: request.ttl ?? ttl };
}

/**
 * The checks that no template takes part in.
 * @returns the policy of the project
 * @throws Refusal 400, 403 or 409 that names the field
 */
export async function checkNewEnvironment(
  context: ActorContext,
  request: NewEnvironment,
): Promise<PolicySettings> {
  checkDeployment(request);
  checkDrift(request, context.now());
  const namespace = request.k8sNamespace ? namespaceRefusal(request.k8sNamespace) : null;
  if (namespace !== null) throw badField('body.k8sNamespace', namespace);
  checkPath(request.terragruntWorkingDirectory, 'body.terragruntWorkingDirectory');
  await checkProject(context, request);
  checkApproval(context, request);
  await checkCreateReferences(context, request);
  const policy = await readPolicySettings(context.db, request.projectId);
  checkPolicyOfNew(withPolicyDefaults(request, policy), policy);
  return policy;
}

function checkDeployment(request: NewEnvironment): void {
  const first = request.deployRequest.deploymentType;
  if (first !== 'deploy')
    throw badField(
      'body.deployRequest.deploymentType',
      `must be deploy for the first deployment of an environment: create it with preventAutoDeploy, then start the ${first}`,
    );
  if (request.deployRequest.importUnrecorded === true)
    throw badField(
      'body.deployRequest.importUnrecorded',
      'does not apply to the first deployment of an environment: no earlier one has left any resources',
    );
  checkDeployRequest(request.deployRequest, 'body.deployRequest');
}

/** @throws Refusal 400 for an invalid schedule */
function checkDrift({ driftDetectionRequest: drift }: NewEnvironment, now: Date): void {
  if (drift?.cron) checkedNextRun(drift.cron, now, 'body.driftDetectionRequest.cron');
  else if (drift?.enabled) throw badField('body.driftDetectionRequest.cron', 'is required with enabled');
}

/** Where the environment is going to be. */
export function placeOf({ organizationId, projectId }: NewEnvironment): Place {
  return { organizationId, projectId, environmentId: null };
}

/** What a request says about waiting for approvals itself. */
export interface OwnApproval {
  /** Undefined: nothing, and the default of the project applies. */
  readonly wanted: boolean | undefined;
  /** Location of the field in the request. */
  readonly field: string;
}

/** The first deployment says it before the environment does. */
export function ownApproval({ deployRequest, requiresApproval }: NewEnvironment): OwnApproval {
  const { userRequiresApproval: wanted } = deployRequest;
  return wanted === undefined
    ? { wanted: requiresApproval, field: '/body/requiresApproval' }
    : { wanted, field: '/body/deployRequest/userRequiresApproval' };
}

/** Continuing without approval requires the right to apply, and so does letting tools apply from elsewhere. */
function checkApproval(context: ActorContext, request: NewEnvironment): void {
  const { wanted, field } = ownApproval(request);
  if (wanted === false) requireRight(context.actor, placeOf(request), 'RUN_APPLY', `${field} false`);
  if (request.isRemoteApplyEnabled)
    requireRight(context.actor, placeOf(request), 'EDIT_ALLOW_REMOTE_APPLY', '/body/isRemoteApplyEnabled');
}

async function checkProject(context: ActorContext, request: NewEnvironment): Promise<void> {
  const project = await getProjectRow(context.db, request.projectId);
  if (!project) throw unknownEntity('body.projectId', 'project');
  if (project.organization_id !== request.organizationId)
    throw badField('body.organizationId', 'is not the organization of the project in projectId');
  if (project.is_archived) throw conflict(`Project "${project.name}" is archived`);
}

/** @param type of the template @throws Refusal 400 for a name that its tool does not take */
export function checkWorkspaceName({ workspaceName }: NewEnvironment, type: string): void {
  const refused = workspaceName ? toolFacts(type)?.workspaceNameRefusal?.(workspaceName) : null;
  if (refused) throw badField('body.workspaceName', refused);
}

/** The source of an environment without a template, wherever the request names it. */
async function checkOwnSource(
  context: ActorContext,
  request: CreateEnvironment,
  { repository, revision }: CreateEnvironmentBody,
): Promise<void> {
  const { organizationId, projectId, deployRequest } = request;
  const { blueprintRepository, blueprintRevision } = deployRequest;
  checkRepository(context, addressOf(request, splitCredentials(repository).repository), 'body.repository');
  if (blueprintRepository !== undefined)
    checkRepository(
      context,
      addressOf(request, blueprintRepository),
      'body.deployRequest.blueprintRepository',
    );
  checkRevision(blueprintRevision, 'body.deployRequest.blueprintRevision');
  checkRevision(revision, 'body.revision');
  checkPath(request.path, 'body.path');
  checkFile(request.fileName, 'body.fileName');
  await checkCredentials(context, { organizationId, projectIds: [projectId] }, request, 'body');
}

/** Its repository and revision replace those of the environment. */
export function withDeployedSource(request: CreateEnvironment): CreateEnvironment {
  const { blueprintRevision, blueprintRepository } = request.deployRequest;
  return {
    ...request,
    ...(blueprintRepository ? { repository: blueprintRepository } : {}),
    revision: blueprintRevision || request.revision,
  };
}

/**
 * @param request with the source that is deployed
 * @param body the request as it was sent
 * @returns the policy of the project
 * @throws Refusal 400, 403 or 409 that names the field
 */
export async function checkCreateWithoutTemplate(
  context: ActorContext,
  request: CreateEnvironment,
  body: CreateEnvironmentBody,
): Promise<PolicySettings> {
  const type: string = request.type;
  if (!isRunnable(type))
    throw badField('body.type', `${type} cannot be run by this version: it runs ${runnableTools.join(', ')}`);
  const wrong = typeRefusal(request);
  if (wrong) throw badField(`body.${wrong.field}`, wrong.reason);
  const retry = request.retry ? retryRefusal(request.retry) : null;
  if (retry) throw badField(`body.retry.${retry.field}`, retry.reason);
  const policy = await checkNewEnvironment(context, request);
  if (request.deployRequest.blueprintId)
    throw badField(
      'body.deployRequest.blueprintId',
      'does not match a template: an environment without one gets its own',
    );
  await checkOwnSource(context, request, body);
  await checkProjects(context, request);
  return policy;
}
