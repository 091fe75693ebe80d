/** The checks of a new environment before anything is written. */
import type { Place } from '../access/access.ts';
import type { CreateEnvironment, CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import { pathRefusal, repositoryRefusal, revisionRefusal } from '#guards/source-guards.ts';
import { retryRefusal } from '#guards/retry-rule.ts';
import { isRunnable, runnableTools } from '#protocol/tools/index.ts';
import { requireRight } from '../access/check-right.ts';
import type { ActorContext } from '../context.ts';
import { badField, conflict, unknownEntity } from '../http/errors.ts';
import { getProjectRow } from '../projects/project-store.ts';
import { splitCredentials } from '../templates/repository-credentials.ts';
import { checkDeployRequest } from '../deployments/check-deploy-request.ts';
import { checkCreateReferences } from './check-create-references.ts';
import { checkedNextRun } from '../schedules/cron.ts';

/**
 * `deployRequest` applies to a new environment as a deploy with the same fields would: its name, repository
 * and revision replace those of the environment. Only a `ttl` outside of it wins.
 */
export function withDeployRequest(request: CreateEnvironment): CreateEnvironment {
  const { blueprintRevision, blueprintRepository, envName, ttl } = request.deployRequest;
  return {
    ...request,
    name: envName ?? request.name,
    ...(blueprintRepository ? { repository: blueprintRepository } : {}),
    revision: blueprintRevision || request.revision,
    ttl: request.ttl ?? ttl,
  };
}

function checkSource(
  { settings }: ActorContext,
  request: CreateEnvironment,
  { repository, revision }: CreateEnvironmentBody,
): void {
  const { blueprintRepository, blueprintRevision } = request.deployRequest;
  const allowed = { httpHosts: settings.gitHttpHosts, localPaths: settings.gitLocalPaths };
  for (const [field, value] of [
    ['body.repository', splitCredentials(repository).repository],
    ['body.deployRequest.blueprintRepository', blueprintRepository],
  ] as const) {
    const refused = value === undefined ? null : repositoryRefusal(value, allowed);
    if (refused) throw badField(field, `is refused: ${refused}`);
  }
  for (const [field, value] of [
    ['body.deployRequest.blueprintRevision', blueprintRevision],
    ['body.revision', revision],
  ] as const) {
    const refused = value ? revisionRefusal(value) : null;
    if (refused) throw badField(field, `is refused: ${refused}`);
  }
  const path = request.path ? pathRefusal(request.path) : null;
  if (path) throw badField('body.path', `is refused: ${path}`);
}

function checkSettings(request: CreateEnvironment): void {
  if (!isRunnable(request.type)) {
    throw badField(
      'body.type',
      `${request.type} cannot be run by this version: it runs ${runnableTools.join(', ')}`,
    );
  }
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
  const retry = request.retry ? retryRefusal(request.retry) : null;
  if (retry) throw badField(`body.retry.${retry.field}`, retry.reason);
  if (
    request.isRemoteApplyEnabled &&
    (request.isRemoteBackend !== true || request.requiresApproval !== false)
  ) {
    throw badField('body.isRemoteApplyEnabled', 'requires isRemoteBackend true and requiresApproval false');
  }
}

/** @throws Refusal 400 for an invalid schedule */
function checkDrift({ driftDetectionRequest: drift }: CreateEnvironment, now: Date): void {
  if (drift?.cron) checkedNextRun(drift.cron, now, 'body.driftDetectionRequest.cron');
  else if (drift?.enabled) throw badField('body.driftDetectionRequest.cron', 'is required with enabled');
}

/** Where the environment is going to be. */
export function placeOf({ organizationId, projectId }: CreateEnvironment): Place {
  return { organizationId, projectId, environmentId: null };
}

/** Continuing without approval requires the right to apply, and so does letting tools apply from elsewhere. */
function checkApproval(context: ActorContext, request: CreateEnvironment): void {
  const isAutomatic = (request.deployRequest.userRequiresApproval ?? request.requiresApproval) === false;
  if (isAutomatic) requireRight(context.actor, placeOf(request), 'RUN_APPLY', '/body/requiresApproval false');
  if (request.isRemoteApplyEnabled)
    requireRight(context.actor, placeOf(request), 'EDIT_ALLOW_REMOTE_APPLY', '/body/isRemoteApplyEnabled');
}

async function checkProject(context: ActorContext, request: CreateEnvironment): Promise<void> {
  const project = await getProjectRow(context.db, request.projectId);
  if (!project) throw unknownEntity('body.projectId', 'project');
  if (project.organization_id !== request.organizationId)
    throw badField('body.organizationId', 'is not the organization of the project in projectId');
  if (project.is_archived) throw conflict(`Project "${project.name}" is archived`);
}

/**
 * @param body the request as it was sent
 * @throws Refusal 400, 403 or 409 that names the field
 */
export async function checkCreateRequest(
  context: ActorContext,
  request: CreateEnvironment,
  body: CreateEnvironmentBody,
): Promise<void> {
  checkSettings(request);
  checkDrift(request, context.now());
  await checkProject(context, request);
  checkApproval(context, request);
  checkSource(context, request, body);
  await checkCreateReferences(context, request, body);
}
