/** Ids in a create request that must exist, and fields that only a workflow environment has. */
import type { CreateEnvironment, NewEnvironment } from '#contract/environments/create-environment.ts';
import { creationProject } from '../../code/templates/create-template.ts';
import type { ActorContext } from '../../framework/context.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import { checkUpstream, checkWorkflowFields } from '../deployments/requests/check-deploy-request.ts';

/**
 * Projects that the settings of the environment's own template name.
 * @throws Refusal 400 that names the field
 */
export async function checkProjects(context: ActorContext, request: CreateEnvironment): Promise<void> {
  await requireProjects(context.db, request.organizationId, request.projectIds ?? [], 'body.projectIds');
  await creationProject(context, request);
}

/** @throws Refusal 400 that names the field */
export async function checkCreateReferences(context: ActorContext, request: NewEnvironment): Promise<void> {
  const { deployRequest } = request;
  checkWorkflowFields(deployRequest, 'body.deployRequest');
  await checkUpstream(context, request.organizationId, deployRequest, 'body.deployRequest');
}
