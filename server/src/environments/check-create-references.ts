/** Ids in a create request that must exist, and fields that only a workflow environment has. */
import type { CreateEnvironment, CreateEnvironmentBody } from '#contract/environments/create-environment.ts';
import { normalizeSetChanges } from '#contract/deployments/deploy-request.ts';

import type { ActorContext } from '../context.ts';
import { checkSetChanges, checkUpstream, checkWorkflowFields } from '../deployments/check-deploy-request.ts';
import { requireTokenFor } from '../git-tokens/require-token-for.ts';
import { badField } from '../http/errors.ts';
import { projectHome } from '../projects/project-store.ts';
import { unknownKey } from '../ssh-keys/ssh-key-store.ts';

async function checkCredentials(context: ActorContext, request: CreateEnvironment): Promise<void> {
  const { organizationId, projectId, tokenId, vcsConnectionId, sshKeys = [] } = request;
  if (tokenId)
    await requireTokenFor(
      context.db,
      { organizationId, projectId, tokenId, repository: request.repository },
      'body.tokenId',
    );
  const keyIds = sshKeys.map((key) => key.id);
  const unknown = await unknownKey(context.db, { organizationId, projectId }, keyIds);
  if (unknown !== null)
    throw badField(
      `body.sshKeys.${keyIds.indexOf(unknown)}.id`,
      'does not match an SSH key you have access to',
    );
  if (vcsConnectionId)
    throw badField('body.vcsConnectionId', 'does not match a VCS connection you have access to');
}

async function checkProjects(context: ActorContext, request: CreateEnvironment): Promise<void> {
  const { organizationId, creationScope, creationScopeId, projectIds = [] } = request;
  const isProject = async (id: string) =>
    (await projectHome(context.db, id))?.organizationId === organizationId;
  for (const [index, id] of projectIds.entries()) {
    if (!(await isProject(id)))
      throw badField(`body.projectIds.${index}`, 'does not match a project you have access to');
  }
  if (!creationScopeId) {
    if (creationScope === 'PROJECT')
      throw badField('body.creationScopeId', 'is required with creationScope PROJECT: the id of the project');
    return;
  }
  const isOrganization = creationScopeId === organizationId;
  if (creationScope === 'ORGANIZATION' && !isOrganization)
    throw badField('body.creationScopeId', 'must be the organizationId with creationScope ORGANIZATION');
  if (creationScope !== 'ORGANIZATION' && !(isOrganization && !creationScope)) {
    if (!(await isProject(creationScopeId)))
      throw badField('body.creationScopeId', 'does not match a project you have access to');
  }
}

/** @throws Refusal 400 that names the field */
export async function checkCreateReferences(
  context: ActorContext,
  request: CreateEnvironment,
  body: CreateEnvironmentBody,
): Promise<void> {
  const { deployRequest } = request;
  checkWorkflowFields(deployRequest, 'body.deployRequest');
  for (const [changes, field] of [
    [body.configurationSetChanges, 'body.configurationSetChanges'],
    [body.deployRequest?.configurationSetChanges, 'body.deployRequest.configurationSetChanges'],
  ] as const)
    checkSetChanges(normalizeSetChanges(changes), [], field);
  if (deployRequest.blueprintId)
    throw badField(
      'body.deployRequest.blueprintId',
      'does not match a template: an environment without one gets its own',
    );
  await checkUpstream(context, request.organizationId, deployRequest, 'body.deployRequest');
  await checkCredentials(context, request);
  await checkProjects(context, request);
}
