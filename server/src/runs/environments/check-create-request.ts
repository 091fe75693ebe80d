/** The checks of a new environment before anything is written. */

import type { CreateEnvironment, NewEnvironment } from '#contract/environments/create-environment.ts';
import { namespaceRefusal } from '#contract/templates/setting-rules.ts';
import { isRunnable, runnableTools, toolFacts } from '#protocol/tools/index.ts';
import { checkCredentials } from '../../code/templates/check-credentials.ts';
import { checkFile, checkPath, checkRepository, checkRevision } from '../../code/templates/check-source.ts';
import { checkToolSettings } from '../../code/templates/check-template.ts';
import { creationProject } from '../../code/templates/create-template.ts';
import { splitCredentials } from '../../code/templates/repository-credentials.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, conflict, unknownEntity } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import type { HostCredentials } from '../../rows/templates/columns.ts';
import { type PolicySettings, readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import {
  checkDeployRequest,
  checkUpstream,
  checkWorkflowFields,
} from '../deployments/requests/check-deploy-request.ts';
import { checkedNextRun } from '../schedules/cron.ts';
import { checkPolicyOfNew, withPolicyDefaults } from './policy-defaults.ts';

const inDeploy = 'body.deployRequest';

function checkDeployment({ deployRequest }: NewEnvironment): void {
  const { deploymentType: first, importUnrecorded } = deployRequest;
  if (first !== 'deploy')
    throw badField(
      `${inDeploy}.deploymentType`,
      `must be deploy for the first deployment of an environment: create it with preventAutoDeploy, then start the ${first}`,
    );
  if (importUnrecorded === true)
    throw badField(
      `${inDeploy}.importUnrecorded`,
      'does not apply to the first deployment of an environment: no earlier one has left any resources',
    );
  checkDeployRequest(deployRequest, inDeploy);
}

/** @throws Refusal 400 for an invalid schedule */
function checkDrift({ driftDetectionRequest: drift }: NewEnvironment, now: Date): void {
  if (drift?.cron) checkedNextRun(drift.cron, now, 'body.driftDetectionRequest.cron');
  else if (drift?.enabled) throw badField('body.driftDetectionRequest.cron', 'is required with enabled');
}

/** Setting of a request about waiting for approvals. */
interface OwnApproval {
  /** Undefined: nothing, and the default of the project applies. */
  readonly wanted: boolean | undefined;
  /** Location of the field in the request. */
  readonly field: string;
}

/** The first deployment says it before the environment does. */
function ownApproval({ deployRequest, requiresApproval }: NewEnvironment): OwnApproval {
  const { userRequiresApproval: wanted } = deployRequest;
  return wanted === undefined
    ? { wanted: requiresApproval, field: '/body/requiresApproval' }
    : { wanted, field: '/body/deployRequest/userRequiresApproval' };
}

async function checkProject(db: Connection, { organizationId, projectId }: NewEnvironment): Promise<void> {
  const project = await getProjectRow(db, projectId);
  if (!project) throw unknownEntity('body.projectId', 'project');
  if (project.organization_id !== organizationId)
    throw badField('body.organizationId', 'is not the organization of the project in projectId');
  if (project.is_archived) throw conflict(`Project "${project.name}" is archived`);
}

/** A request that has passed the checks, with what is known of its project. */
export interface CheckedEnvironment<Request extends NewEnvironment = NewEnvironment> {
  /** With the values of the policy where it has none of its own. */
  readonly request: Request;
  readonly approval: OwnApproval;
  /** Place of the new environment. */
  readonly place: Place;
  readonly policy: PolicySettings;
}

/**
 * The checks that no template takes part in.
 * @throws Refusal 400, 403 or 409 that names the field
 */
export async function checkNewEnvironment<Request extends NewEnvironment>(
  context: ActorContext,
  sent: Request,
): Promise<CheckedEnvironment<Request>> {
  const { organizationId, projectId, deployRequest, k8sNamespace } = sent;
  checkDeployment(sent);
  checkDrift(sent, context.now());
  const namespace = k8sNamespace ? namespaceRefusal(k8sNamespace) : null;
  if (namespace !== null) throw badField('body.k8sNamespace', namespace);
  checkPath(sent.terragruntWorkingDirectory, 'body.terragruntWorkingDirectory');
  await checkProject(context.db, sent);
  const place = { organizationId, projectId, environmentId: null };
  const approval = ownApproval(sent);
  // Continuing without approval requires the right to apply, and so does letting tools apply from elsewhere.
  if (approval.wanted === false) requireRight(context.actor, place, 'RUN_APPLY', `${approval.field} false`);
  if (sent.isRemoteApplyEnabled)
    requireRight(context.actor, place, 'EDIT_ALLOW_REMOTE_APPLY', '/body/isRemoteApplyEnabled');
  checkWorkflowFields(deployRequest, inDeploy);
  await checkUpstream(context, organizationId, deployRequest, inDeploy);
  const policy = await readPolicySettings(context.db, projectId);
  const request = withPolicyDefaults(sent, policy);
  checkPolicyOfNew(request, policy);
  return { request, approval, place, policy };
}

/** @param type of the template @throws Refusal 400 for a name that its tool does not take */
export function checkWorkspaceName(workspaceName: string | undefined, type: string): void {
  const refused = workspaceName ? toolFacts(type)?.workspaceNameRefusal?.(workspaceName) : null;
  if (refused) throw badField('body.workspaceName', refused);
}

/** Source of the code of an environment without a template. */
export interface OwnSource {
  /** Those of the first deployment replace those of the environment. */
  readonly repository: string;
  readonly revision: string | undefined;
  /** They belong to the host of the environment's own repository, wherever the code is finally read. */
  readonly credentials: HostCredentials | null;
}

/** @throws Refusal 400 that names the field */
async function checkOwnSource(
  context: ActorContext,
  { organizationId, projectId, ...request }: CreateEnvironment,
): Promise<OwnSource> {
  const { blueprintRepository, blueprintRevision } = request.deployRequest;
  const { repository: own, credentials } = splitCredentials(request.repository);
  const { isHelmRepository } = request;
  checkRepository(context, own, 'body.repository', isHelmRepository);
  checkRepository(context, blueprintRepository, `${inDeploy}.blueprintRepository`, isHelmRepository);
  checkRevision(blueprintRevision, `${inDeploy}.blueprintRevision`);
  checkRevision(request.revision, 'body.revision');
  checkPath(request.path, 'body.path');
  checkFile(request.fileName, 'body.fileName');
  const repository = blueprintRepository || own;
  const { tokenId, sshKeys, vcsConnectionId } = request;
  const sent = { repository, tokenId, sshKeys, vcsConnectionId };
  await checkCredentials(context, { organizationId, projectIds: [projectId] }, sent, 'body');
  return { repository, revision: blueprintRevision || request.revision, credentials };
}

/** @throws Refusal 400, 403 or 409 that names the field */
export async function checkCreateWithoutTemplate(
  context: ActorContext,
  sent: CreateEnvironment,
): Promise<CheckedEnvironment<CreateEnvironment> & { readonly source: OwnSource }> {
  const type: string = sent.type;
  if (!isRunnable(type))
    throw badField('body.type', `${type} cannot be run by this version: it runs ${runnableTools.join(', ')}`);
  checkToolSettings(sent);
  const checked = await checkNewEnvironment(context, sent);
  if (sent.deployRequest.blueprintId)
    throw badField(
      `${inDeploy}.blueprintId`,
      'does not match a template: an environment without one gets its own',
    );
  const source = await checkOwnSource(context, sent);
  await requireProjects(context.db, sent.organizationId, sent.projectIds ?? [], 'body.projectIds');
  await creationProject(context, sent);
  return { ...checked, source };
}
