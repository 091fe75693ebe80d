/** Fields that a deploy request must not contain for its type of deployment. */
import type { DeployRequest, RunRequest } from '#contract/deployments/deploy-request.ts';
import { requireRight } from '../../../framework/access/check-right.ts';
import type { ActorContext } from '../../../framework/context.ts';
import { badField, pointerTo } from '../../../ground/errors.ts';
import { environmentHome } from '../../../rows/environments/environment-store.ts';

function checkTask(request: RunRequest, body: string): void {
  if (request.deploymentType !== 'task') {
    if (request.taskPayload === undefined) return;
    throw badField(
      `${body}.taskPayload`,
      `applies only to deploymentType task, and this is a ${request.deploymentType}`,
    );
  }
  if (request.taskPayload === undefined || request.taskPayload.trim() === '')
    throw badField(`${body}.taskPayload`, 'is required with deploymentType task: the shell commands to run');
  const fixed = (['blueprintRevision', 'blueprintRepository'] as const).find((field) => request[field]);
  if (fixed)
    throw badField(
      `${body}.${fixed}`,
      'does not apply to tasks: they run at the commit that was deployed last',
    );
  if (request.targets.length > 0)
    throw badField(`${body}.targets`, 'does not apply to tasks: they have no plan');
}

function checkRemotePlan(request: RunRequest, body: string): void {
  if (request.deploymentType !== 'remotePlan') {
    if (request.sourceId !== undefined)
      throw badField(
        `${body}.sourceId`,
        `applies only to deploymentType remotePlan, and this is a ${request.deploymentType}`,
      );
    return;
  }
  if (!request.sourceId)
    throw badField(
      `${body}.sourceId`,
      'is required with deploymentType remotePlan: upload the code first (uploadSource)',
    );
  const fixed = (['blueprintRevision', 'blueprintRepository'] as const).find((field) => request[field]);
  if (fixed) throw badField(`${body}.${fixed}`, 'does not apply to remote plans: they run the uploaded code');
}

function checkImport({ importUnrecorded, deploymentType }: RunRequest, body: string): void {
  if (importUnrecorded === true && deploymentType !== 'deploy' && deploymentType !== 'dryRun')
    throw badField(
      `${body}.importUnrecorded`,
      `applies only to deploymentType deploy and dryRun, and this is a ${deploymentType}`,
    );
}

/** Settings about drift concern what a drift run finds. */
function checkRemediation(
  { autoDriftRemediationStrategy: strategy, deploymentType }: RunRequest,
  body: string,
): void {
  const field = `${body}.autoDriftRemediationStrategy`;
  if (strategy !== undefined && strategy !== 'DISABLED' && deploymentType !== 'driftDetection')
    throw badField(field, `applies only to deploymentType driftDetection, and this is a ${deploymentType}`);
}

const longestCustomBytes = 32 * 1024;

/** Characters that a process cannot receive, or that a terminal would interpret. */
function checkCustomVariables({ customServiceEnvironmentVariables: custom }: RunRequest, body: string): void {
  for (const [name, value] of Object.entries(custom ?? {})) {
    const field = `${body}.customServiceEnvironmentVariables.${name}`;
    if (/[\p{Cc}--[\t\n]]/v.test(value))
      throw badField(field, 'has a control character, which variables of a run must not contain');
    if (Buffer.byteLength(value) > longestCustomBytes)
      throw badField(field, `is longer than ${longestCustomBytes} bytes`);
  }
}

const workflowFields = [
  'workflowDeploymentId',
  'workflowDeploymentOptions',
  'subEnvironments',
  'subEnvironmentAlias',
] as const;

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '';
}

/**
 * Workflow environments do not exist yet, so the fields that describe a run of one cannot apply.
 * @param body location of the request, as `body.deployRequest`
 * @throws Refusal 400 that names the field
 */
export function checkWorkflowFields(
  request: Partial<Pick<DeployRequest, (typeof workflowFields)[number]>>,
  body: string,
): void {
  const found = workflowFields.find((name) => !isEmpty(request[name]));
  if (found) throw badField(`${body}.${found}`, 'applies to workflow environments only, and this is not one');
}

/**
 * @param organizationId organization of the environment
 * @param body location of the request, as `body.deployRequest`
 * @throws Refusal 400 that names the field, 403 for an environment that the caller may not see
 */
export async function checkUpstream(
  context: ActorContext,
  organizationId: string,
  { upstreamEnvironmentId: id }: Pick<DeployRequest, 'upstreamEnvironmentId'>,
  body: string,
): Promise<void> {
  if (!id) return;
  const field = `${body}.upstreamEnvironmentId`;
  const home = await environmentHome(context.db, id);
  if (home?.organizationId !== organizationId)
    throw badField(field, 'does not match an environment you have access to');
  requireRight(context.actor, home, 'VIEW_ENVIRONMENT', pointerTo(field));
}

/**
 * @param body location of the request, as `body.deployRequest`
 * @throws Refusal 400 that names the field
 */
export function checkDeployRequest(request: RunRequest, body: string): void {
  checkImport(request, body);
  checkRemediation(request, body);
  checkCustomVariables(request, body);
  checkTask(request, body);
  checkRemotePlan(request, body);
}
