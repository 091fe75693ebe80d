/** Operations on environments. */
import { type Static, Type } from 'typebox';
import { Ttl } from '../deployments/deploy-request.ts';
import { StartedDeployment } from '../deployments/shapes.ts';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { environmentStatuses, oneOf, triggerNames } from '../schema/enumerations.ts';
import { defineOperations, operation, variablesMegabytes } from '../schema/operation.ts';
import { Count, closed, commaListOf, Flag, mapOf, Name, Prose, Text, Title } from '../schema/schema.ts';
import {
  CreateEnvironmentBody,
  CreateFromTemplateBody,
  UpdateEnvironmentBody,
} from './create-environment.ts';
import { ListEnvironmentsQuery } from './list-query.ts';
import { CreatedEnvironment, Environment, EnvironmentLock, StatusCounts } from './shapes.ts';

const thisEnvironment = aboutOne('environment');

const thisProject = { entity: 'project', in: 'query', field: 'projectId' } as const;

export const DestroyEnvironmentQuery = Type.Object({
  checkoutUpdatedCode: Type.Optional(
    Type.Boolean({ description: 'The newest commit of the revision instead of the one deployed last' }),
  ),
  skipStateRefresh: Type.Optional(Flag),
  requiresApproval: Type.Optional(
    Type.Boolean({
      description:
        'Whether the plan waits for approval, like `userRequiresApproval` of a deploy: the setting of the environment from ' +
        'then on',
    }),
  ),
  isScheduledRun: Type.Optional(Flag),
  revision: Type.Optional(Text),
});

export const DestroyEnvironmentBody = closed({
  triggerName: Type.Optional(oneOf(triggerNames)),
  workflowDeploymentId: Type.Optional(Text),
  comment: Type.Optional(Prose),
});
export type DestroyEnvironmentBody = Static<typeof DestroyEnvironmentBody>;

export const SetEnvironmentLockBody = closed({ isLocked: Flag, reason: Type.Optional(Prose) });

export const SetEnvironmentTemplateBody = closed({
  newName: Type.Optional(Title),
  blueprintId: Type.Optional(Name),
});
export type SetEnvironmentTemplateBody = Static<typeof SetEnvironmentTemplateBody>;

export const MoveEnvironmentBody = closed({ projectId: Name });

/** Rights to have a plan applied without an approval. */
const toApplyAtOnce = [
  { right: 'RUN_APPLY', for: '`requiresApproval` false' },
  {
    right: 'EDIT_PROJECT_SETTINGS',
    for: '`requiresApproval` false where a project demands approvals, there',
  },
] as const;
/** Rights to go beyond the limits of the policy. */
const beyondLimits = [
  { right: 'OVERRIDE_MAX_TTL', for: 'a `ttl` beyond the maximum' },
  {
    right: 'OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS',
    for: 'an environment beyond `numberOfEnvironments` of the policy',
  },
] as const;

export const operations = defineOperations('environments', {
  listEnvironments: operation('GET', '/environments', {
    summary: 'List environments',
    description:
      'The environments that the caller may see, newest first unless `sort` says otherwise. ' +
      '`x-total-count` contains the total number.',
    needs: 'signed-in',
    query: ListEnvironmentsQuery,
    reply: Type.Array(Environment),
    projectedBy: ['excludeFields'],
    inInterface: true,
  }),
  createEnvironment: operation('POST', '/environments', {
    summary: 'Create environment from template',
    description:
      'Creates an environment from the template `deployRequest.blueprintId`, which must be assigned to the ' +
      'project, and its first deployment unless `preventAutoDeploy` is true. The single-use template of another ' +
      'environment means its code, copied into a template of its own. ' +
      '`deployRequest.blueprintRevision` overrides the revision of the template for this environment.',
    needs: 'RUN_PLAN',
    needsToo: [
      ...toApplyAtOnce,
      { right: 'EDIT_ALLOW_REMOTE_APPLY', for: '`isRemoteApplyEnabled` true' },
      {
        right: 'CREATE_VCS_ENVIRONMENT',
        for: 'another `deployRequest.blueprintRepository`, or the code of another environment',
      },
      ...beyondLimits,
    ],
    subject: { entity: 'project', in: 'body', field: 'projectId' },
    body: CreateFromTemplateBody,
    bodyMegabytes: variablesMegabytes,
    reply: CreatedEnvironment,
  }),
  createEnvironmentWithoutTemplate: operation('POST', '/environments/without-template', {
    summary: 'Create environment without template',
    description:
      'Creates a template for this environment only, the environment, and its first deployment unless ' +
      '`preventAutoDeploy` is true.',
    needs: 'CREATE_VCS_ENVIRONMENT',
    needsToo: [
      ...toApplyAtOnce,
      { right: 'EDIT_ALLOW_REMOTE_APPLY', for: '`isRemoteApplyEnabled` true' },
      ...beyondLimits,
    ],
    subject: { entity: 'project', in: 'body', field: 'projectId' },
    body: CreateEnvironmentBody,
    bodyMegabytes: variablesMegabytes,
    reply: CreatedEnvironment,
    inInterface: true,
  }),
  countEnvironments: operation('GET', '/environments/count', {
    summary: 'Count environments',
    description: 'How many environments of a project the caller may see.',
    needs: 'VIEW_ENVIRONMENT',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment that is counted' }],
    subject: thisProject,
    query: Type.Object({
      projectId: Name,
      isActive: Type.Optional(
        Type.Boolean({
          description: 'true: only environments that are not archived; false: only archived ones',
        }),
      ),
      status: Type.Optional(commaListOf(environmentStatuses, 'Statuses to count')),
    }),
    reply: Count,
  }),
  countEnvironmentStatuses: operation('GET', '/environments/statuses/counts', {
    summary: 'Count environments by status',
    description:
      'Of each project, by its id: how many environments have which status and which drift status, among those that ' +
      'are not archived and that the caller may see. Projects without such environments are absent.',
    needs: 'VIEW_ENVIRONMENT',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment that is counted' }],
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Name }),
    reply: mapOf(StatusCounts),
  }),
  getEnvironment: operation('GET', '/environments/{id}', {
    summary: 'Get environment',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    query: Type.Object({
      fields: Type.Optional(Type.String({ description: 'Field paths to return, separated by commas' })),
    }),
    reply: Environment,
    projectedBy: ['fields'],
  }),
  updateEnvironment: operation('PUT', '/environments/{id}', {
    summary: 'Update environment',
    description:
      'Omitted fields are unchanged. `isArchived: true` marks the environment inactive without ' +
      'destroying anything: deployments that are queued or wait for approval are cancelled, a running ' +
      'one must finish first (409), TTL and schedules are suspended. `isArchived: false` restores it, ' +
      'as a deployment does.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo: [
      ...toApplyAtOnce,
      { right: 'ARCHIVE_ENVIRONMENT', for: '`isArchived`' },
      { right: 'EDIT_ALLOW_REMOTE_APPLY', for: '`isRemoteApplyEnabled`' },
    ],
    ...thisEnvironment,
    body: UpdateEnvironmentBody,
    bodyMegabytes: variablesMegabytes,
    reply: Environment,
  }),
  deleteEnvironment: operation('DELETE', '/environments/{id}', {
    summary: 'Delete environment',
    description:
      'Deletes an environment that never had resources, with its deployments, logs, variables, schedules ' +
      'and uploads. The audit trail keeps its entries. 409 if it is locked, a deployment is open, or it has ' +
      'or may have had resources: a state was stored or imported, or a run began to change something. ' +
      'Destroy and archive such an environment instead.',
    needs: 'ARCHIVE_ENVIRONMENT',
    ...thisEnvironment,
    reply: Type.Object({ id: Text }),
  }),
  destroyEnvironment: operation('POST', '/environments/{id}/destroy', {
    summary: 'Destroy environment',
    description:
      'Starts a deployment of type destroy. 400 if there is nothing to destroy (inactive, never ' +
      'deployed, already being destroyed), 409 if it is locked or not allowed.',
    needs: 'RUN_PLAN',
    needsToo: toApplyAtOnce,
    updates: 'getEnvironment',
    ...thisEnvironment,
    query: DestroyEnvironmentQuery,
    body: DestroyEnvironmentBody,
    bodyOptional: true,
    reply: StartedDeployment,
  }),
  setEnvironmentLock: operation('PUT', '/environments/{id}/lock', {
    summary: 'Lock or unlock environment',
    description: 'A locked environment accepts no deployments of any type; running deployments continue.',
    needs: 'MANAGE_ENVIRONMENT_LOCK',
    updates: 'getEnvironment',
    ...thisEnvironment,
    body: SetEnvironmentLockBody,
    reply: EnvironmentLock,
  }),
  updateEnvironmentTtl: operation('PUT', '/environments/{id}/ttl', {
    summary: 'Update TTL of environment',
    description:
      'When the environment expires and is destroyed automatically. HOURS count from now. The maximum ' +
      'lifetime (maxTtl) counts from the creation; anything later is refused, unless the caller may ' +
      'override it.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo: [{ right: 'OVERRIDE_MAX_TTL', for: 'a lifetime beyond the maximum' }],
    updates: 'getEnvironment',
    ...thisEnvironment,
    body: Ttl,
    reply: Environment,
  }),
  setEnvironmentTemplate: operation('PUT', '/environments/{id}/template', {
    summary: 'Save as template, or change the template',
    description:
      'With `newName`, the template that belongs to the environment alone becomes a template of its project under ' +
      'this name, which the environment continues to use; 409 if the name is taken, or others can use the template ' +
      'already. With `blueprintId`, the environment uses another template from its next deployment on; 409 while a ' +
      'deployment is queued, runs or waits for approval.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo: [
      { right: 'CREATE_AND_EDIT_TEMPLATES', for: '`newName`, in the project' },
      { right: 'RUN_APPLY', for: '`blueprintId`' },
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: 'a `blueprintId` that leaves a template of a project with demands for approvals, there',
      },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'a `blueprintId` that leaves a template of the organization with demands for approvals',
      },
    ],
    updates: 'getEnvironment',
    ...thisEnvironment,
    body: SetEnvironmentTemplateBody,
    reply: Environment,
  }),
  moveEnvironment: operation('POST', '/environments/{id}/move', {
    summary: 'Move environment',
    description:
      'Moves the environment to another project of the organization, with its state and its history. ' +
      '409 while a deployment is queued, runs or waits for approval. Variables of the new project ' +
      'apply from the next deployment on.',
    needs: 'MOVE_ENVIRONMENTS',
    needsToo: [
      { right: 'MOVE_ENVIRONMENTS', for: 'a `projectId`, there' },
      { right: 'EDIT_PROJECT_SETTINGS', for: 'what demands approvals and is left, in its project' },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'approvals that the organization demands, if they are lifted there',
      },
    ],
    updates: 'getEnvironment',
    ...thisEnvironment,
    body: MoveEnvironmentBody,
    reply: Environment,
  }),
  listEnvironmentTags: operation('GET', '/environments/tags', {
    summary: 'List tags of environments',
    description: 'Each tag once, in alphabetical order.',
    needs: 'VIEW_ENVIRONMENT',
    subject: [{ entity: 'project', in: 'query', field: 'projectId' }, inOrganization.subject],
    query: Type.Object({ organizationId: Type.Optional(Text), projectId: Type.Optional(Text) }),
    reply: Type.Array(Text),
  }),
});
