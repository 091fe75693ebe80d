/** Operations on deployments, their steps and logs. */
import { type Static, Type } from 'typebox';
import { DeploymentStreamEvent, withLog } from '../feeds/shapes.ts';
import { aboutOne } from '../schema/by-id.ts';
import { deploymentStatuses, deploymentTypes, oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation, variablesMegabytes } from '../schema/operation.ts';
import {
  AnyObject,
  Bytes,
  closed,
  commaListOf,
  mapOf,
  Name,
  offsetOf,
  replyObject,
  Text,
} from '../schema/schema.ts';
import { DeployBody } from './deploy-request.ts';
import { Resource } from './plan.ts';
import { PlanImpact, PlanImpactQuery, PlanJsonQuery } from './plan-impact.ts';
import {
  Deployment,
  DeploymentReference,
  DriftStatusResult,
  EnvironmentOutput,
  StartedDeployment,
  Step,
  StepLog,
  UploadedSource,
} from './shapes.ts';
import { DeploymentTimeline } from './timeline.ts';

const byDeploymentLogId = Type.Object({ deploymentLogId: Name });
const thisEnvironment = aboutOne('environment');
const thisDeployment = aboutOne('deployment');
const thisDeploymentLog = { entity: 'deployment', in: 'params', field: 'deploymentLogId' } as const;

const reviewComment = Type.String({
  maxLength: 4000,
  description: 'Why; kept with the decision (`reviews`) and in the audit trail',
});

export const ApproveBody = closed({
  planHash: Type.Optional(
    Type.String({
      description:
        'The `planHash` that was reviewed: if the plan is a different one, the approval is refused with ' +
        '409',
    }),
  ),
  comment: Type.Optional(reviewComment),
});
export type ApproveBody = Static<typeof ApproveBody>;

export const CancelBody = closed({
  planHash: Type.Optional(
    Type.String({
      description:
        'The `planHash` that was reviewed: if there is another plan or none, 409, and nothing ends',
    }),
  ),
  comment: Type.Optional(reviewComment),
});
export type CancelBody = Static<typeof CancelBody>;

export const ReleaseBody = closed({
  reason: Type.String({
    minLength: 1,
    maxLength: 4000,
    description: 'Why it is certain that the run has ended; stored in the audit trail',
  }),
});

export const operations = defineOperations('deployments', {
  getDeployment: operation('GET', '/environments/deployments/{id}', {
    summary: 'Get deployment',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    query: Type.Object({
      fields: Type.Optional(Type.String({ description: 'Field paths to return, separated by commas' })),
      exclude_fields: Type.Optional(Type.String({ description: 'Field paths to omit, separated by commas' })),
    }),
    reply: Deployment,
    projectedBy: ['fields', 'exclude_fields'],
    inInterface: true,
  }),
  deployEnvironment: operation('POST', '/environments/{id}/deployments', {
    summary: 'Deploy environment',
    description:
      'Starts a deployment, or queues it behind the active one. The body may also be wrapped in ' +
      '`deployRequest`.',
    needs: 'RUN_PLAN',
    needsInstead: { right: 'RUN_TASK', for: '`deploymentType` task' },
    needsToo: [
      { right: 'RUN_APPLY', for: '`userRequiresApproval` false' },
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: '`userRequiresApproval` false where a project demands approvals, there',
      },
      { right: 'RUN_APPLY', for: '`autoDriftRemediationStrategy` CODE_TO_CLOUD' },
      { right: 'EDIT_VCS_ENVIRONMENT', for: 'another `blueprintRepository`' },
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: 'a `blueprintId` that leaves a template of a project with demands for approvals, there',
      },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'a `blueprintId` that leaves a template of the organization with demands for approvals',
      },
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: 'a set of a project in `configurationSetChanges.unassign` that demands approvals and that another user assigned, there',
      },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'the same, of a set of the organization',
      },
      { right: 'OVERRIDE_MAX_TTL', for: 'a `ttl` beyond the maximum' },
      {
        right: 'OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS',
        for: 'an environment beyond `numberOfEnvironments` of the policy',
      },
    ],
    updates: 'getEnvironment',
    ...thisEnvironment,
    body: DeployBody,
    bodyMegabytes: variablesMegabytes,
    bodyOptional: true,
    reply: StartedDeployment,
    inInterface: true,
  }),
  uploadSource: operation('POST', '/environments/{id}/sources', {
    summary: 'Upload code for a remote plan',
    description:
      'A folder as a tar archive compressed with gzip, for one or more plans (`deploymentType` ' +
      'remotePlan with its `sourceId`) within a day. 413 above the limit, 400 if the body is not such ' +
      'an archive.',
    needs: 'RUN_PLAN',
    ...thisEnvironment,
    query: Type.Object({
      path: Type.Optional(
        Type.String({
          description: 'Folder of the configuration inside the archive; empty or absent: its root',
        }),
      ),
    }),
    body: Bytes('The archive: tar compressed by gzip'),
    bodyKind: 'binary',
    reply: UploadedSource,
  }),
  listDeployments: operation('GET', '/environments/{id}/deployments', {
    summary: 'List deployments',
    description: 'Those of one environment, newest first. `x-total-count` contains the total number.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
      offset: Type.Optional(offsetOf('deployment')),
      fromDate: Type.Optional(
        Type.String({ format: 'date-time', description: 'Only deployments queued at this time or later' }),
      ),
      toDate: Type.Optional(
        Type.String({ format: 'date-time', description: 'Only deployments queued at this time or earlier' }),
      ),
      deploymentTypes: Type.Optional(commaListOf(deploymentTypes, 'Types to return')),
      statuses: Type.Optional(commaListOf(deploymentStatuses, 'Statuses to return')),
    }),
    reply: Type.Array(Deployment),
  }),
  approveDeployment: operation('PUT', '/environments/deployments/{id}', {
    summary: 'Approve deployment',
    description:
      'Lets a deployment that waits for approval continue, unless approval policies then ask for another ' +
      'approver: it waits again then. 409 if it is not waiting, if its plan is outdated, if the caller has ' +
      "approved it already, or if it is the caller's own and the policy of the project has " +
      '`selfApprovalForbidden`.',
    needs: 'RUN_APPLY',
    ...thisDeployment,
    body: ApproveBody,
    bodyOptional: true,
    reply: DeploymentReference,
  }),
  cancelDeployment: operation('PUT', '/environments/deployments/{id}/cancel', {
    summary: 'Cancel deployment',
    description:
      'Cancels a deployment that waits for approval or is queued. To stop a running deployment, abort ' +
      'it.',
    needs: 'RUN_PLAN',
    updates: 'getDeployment',
    ...thisDeployment,
    body: CancelBody,
    bodyOptional: true,
    reply: DeploymentReference,
  }),
  cancelQueuedDeployments: operation('PUT', '/environments/{id}/deployments/cancel', {
    summary: 'Cancel all queued deployments',
    needs: 'RUN_PLAN',
    updates: 'getEnvironment',
    ...thisEnvironment,
    query: Type.Object({ status: Type.Optional(oneOf(['QUEUED'])) }),
    reply: replyObject('CancelledDeployments', { ids: Type.Array(Text) }),
  }),
  abortDeployment: operation('POST', '/environments/deployments/{id}/abort', {
    summary: 'Abort deployment',
    description: 'Interrupts the running tool. If it does not stop in time, it is killed. Its state is kept.',
    needs: 'ABORT_DEPLOYMENT',
    updates: 'getDeployment',
    ...thisDeployment,
    reply: Type.Null(),
  }),
  rerunDeployment: operation('POST', '/environments/deployments/{id}/rerun', {
    summary: 'Run a plan again',
    description:
      'Starts another deployment of the same type (prPlan, remotePlan, dryRun or driftDetection) with the same ' +
      'repository, revision, targets and custom variables, and with the variables and the state of today. Commit, ' +
      'folder and settings of the tool are the same, too, except for driftDetection, which uses those of today. ' +
      '409 for other types, before the plan has ended, and if the environment now uses another template or (except ' +
      'driftDetection) another tool.',
    needs: 'RUN_PLAN',
    needsToo: [
      { right: 'EDIT_VCS_ENVIRONMENT', for: 'a plan of another repository than that of the environment' },
      { right: 'RUN_APPLY', for: 'a drift detection whose strategy applies changes' },
    ],
    ...thisDeployment,
    reply: Type.Null(),
  }),
  releaseDeployment: operation('POST', '/environments/deployments/{id}/release', {
    summary: 'Give up a deployment whose agent is silent',
    description:
      'Releases the environment before the service would do so automatically. Only for a run whose ' +
      'agent is unreachable, or that has not ended two minutes after the abort time; otherwise, abort the ' +
      'deployment. A state that arrives later is kept as rescued, unless the version that it is based on is ' +
      'still current.',
    needs: 'FORCE_UNLOCK_WORKSPACE',
    updates: 'getDeployment',
    ...thisDeployment,
    body: ReleaseBody,
    reply: DeploymentReference,
  }),
  getDriftStatus: operation('GET', '/environments/deployments/{id}/drift-status', {
    summary: 'Find deployment drift status',
    description: '404 if the deployment is not a drift run.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    reply: DriftStatusResult,
    inInterface: true,
  }),
  listDeploymentResources: operation('GET', '/environments/deployments/{id}/resources', {
    summary: 'List resources of a deployment',
    description: 'During an apply, those created so far.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    reply: Type.Array(Resource),
  }),
  getDeploymentTimeline: operation('GET', '/environments/deployments/{id}/timeline', {
    summary: 'Find where the time of a deployment went',
    description:
      'Its phases from the request to its end, each divided into the time of the tool, of git, of waiting ' +
      'and of the service itself.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    reply: DeploymentTimeline,
  }),
  getPlanImpact: operation('GET', '/environments/deployments/plan-impact', {
    summary: 'Get impact of plans',
    description:
      'Of each deployment, by its id: how many resources its stored plan creates, changes, destroys or replaces, and ' +
      'which it destroys or replaces. Of a plan ' +
      'of which only the summary is stored, `recreate`, `metadata`, `destructive` and `destructiveTypeCounts` are absent.',
    needs: 'signed-in',
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each deployment' }],
    query: PlanImpactQuery,
    reply: mapOf(PlanImpact),
  }),
  getPlanJson: operation('GET', '/environments/deployments/{id}/plan-json', {
    summary: 'Get plan as JSON',
    description:
      'The plan in the form of terraform (`show -json`), without secrets: sensitive values are hidden. While a ' +
      'deployment that approval policies check is open, the whole plan; otherwise what is stored of it, which has ' +
      'only resources and attributes that change. 404 without a plan.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    query: PlanJsonQuery,
    reply: AnyObject,
  }),
  streamDeployment: operation('GET', '/environments/deployments/{id}/events', {
    summary: 'Follow a deployment',
    description:
      'Server-sent events from the beginning or, with the header `Last-Event-ID`, after that event: ' +
      'status, steps, log bytes, resources, and `end`.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisDeployment,
    query: Type.Object({ withLog }),
    reply: DeploymentStreamEvent,
    replyKind: 'event-stream',
  }),
  listEnvironmentOutputs: operation('GET', '/environment-outputs', {
    summary: 'List outputs that variables can refer to',
    description:
      'Names of the outputs of environments of one project: those of the last successful deployment or task of ' +
      'each environment that the caller may view, and that is not destroyed. Sorted by the names of environment ' +
      'and output. Empty unless the policy of the project has `outputsAsInputsEnabled`.',
    needs: 'VIEW_ENVIRONMENT',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment whose outputs are listed' }],
    subject: { entity: 'project', in: 'query', field: 'projectId' },
    query: Type.Object({ projectId: Text }),
    reply: Type.Object({ outputs: Type.Array(EnvironmentOutput, { description: 'Without values' }) }),
  }),
  listSteps: operation('GET', '/deployments/{deploymentLogId}/steps', {
    summary: 'List steps of a deployment',
    description: 'In order; future steps are NOT_STARTED.',
    needs: 'VIEW_ENVIRONMENT',
    subject: thisDeploymentLog,
    params: byDeploymentLogId,
    reply: Type.Array(Step),
  }),
  getStepLog: operation('GET', '/deployments/{deploymentLogId}/steps/{name}/log', {
    summary: 'Get log of a step',
    description:
      'A page of lines. Continue with `startTime` = `nextStartTime` while `hasMoreLogs` is true or ' +
      'the step is running; no line is returned twice. A step that has not started has no lines.',
    needs: 'VIEW_ENVIRONMENT',
    subject: thisDeploymentLog,
    params: Type.Object({ ...byDeploymentLogId.properties, name: Name }),
    query: Type.Object({
      startTime: Type.Optional(
        Type.String({ description: 'The value of `nextStartTime`; empty or absent: from the beginning' }),
      ),
    }),
    reply: StepLog,
  }),
});
