/** Operations on deployments, their steps and logs. */
import { Type } from 'typebox';
import { DeployBody } from './deploy-request.ts';
import { Deployment, DeploymentReference, StartedDeployment, Step, StepLog } from './shapes.ts';
import { deploymentStatuses, deploymentTypes, eventsScanStatuses, oneOf } from '../schema/enumerations.ts';
import { DeploymentStreamEvent } from '../feeds/shapes.ts';
import { operation } from '../operation.ts';
import { Resource } from './plan.ts';
import {
  Bytes,
  closed,
  commaListOf,
  Count,
  Instant,
  Name,
  offsetOf,
  replyObject,
  Text,
} from '../schema/schema.ts';

export * from './deploy-request.ts';
export * from './shapes.ts';

const family = 'deployments';
const byId = Type.Object({ id: Name });
const byDeploymentLogId = Type.Object({ deploymentLogId: Name });
const thisEnvironment = { entity: 'environment', in: 'params', field: 'id' } as const;
const thisDeployment = { entity: 'deployment', in: 'params', field: 'id' } as const;
const thisDeploymentLog = { entity: 'deployment', in: 'params', field: 'deploymentLogId' } as const;

export const getDeployment = operation('getDeployment', {
  family,
  summary: 'Get deployment',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeployment,
  params: byId,
  query: Type.Object({
    fields: Type.Optional(Type.String({ description: 'Field paths to return, separated by commas' })),
    exclude_fields: Type.Optional(
      Type.String({ description: 'Field paths to leave out, separated by commas' }),
    ),
  }),
  reply: Deployment,
  projectedBy: ['fields', 'exclude_fields'],
  inInterface: true,
});

export const deployEnvironment = operation('deployEnvironment', {
  family,
  summary: 'Deploy environment',
  description:
    'Starts a deployment, or queues it behind the one that is under way. The body may also stand in `deployRequest`.',
  needs: 'RUN_PLAN',
  subject: thisEnvironment,
  params: byId,
  body: DeployBody,
  bodyOptional: true,
  reply: StartedDeployment,
  inInterface: true,
});

export const UploadedSource = replyObject('UploadedSource', {
  id: Type.String({ description: 'Send it as `sourceId` with `deploymentType` remotePlan' }),
  environmentId: Text,
  bytes: Count,
  sha256: Text,
  path: Type.String({ description: 'Folder of the configuration inside the archive; empty: its root' }),
  createdAt: Instant,
  expiresAt: Instant,
});

export const uploadSource = operation('uploadSource', {
  family,
  summary: 'Upload code for a remote plan',
  description:
    'A folder as a tar archive compressed by gzip, for one or more plans (`deploymentType` remotePlan with its `sourceId`) within a day. 413 above the limit, 400 for what is no such archive.',
  needs: 'RUN_PLAN',
  subject: thisEnvironment,
  params: byId,
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
});

export const listDeployments = operation('listDeployments', {
  family,
  summary: 'List deployments',
  description: 'Of one environment, newest first. `x-total-count` has the number before paging.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisEnvironment,
  params: byId,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
    offset: Type.Optional(offsetOf('deployment')),
    fromDate: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only what was queued at this time or later' }),
    ),
    toDate: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only what was queued at this time or earlier' }),
    ),
    deploymentTypes: Type.Optional(commaListOf(deploymentTypes, 'Types to return')),
    statuses: Type.Optional(commaListOf(deploymentStatuses, 'Statuses to return')),
  }),
  reply: Type.Array(Deployment),
});

export const ApproveBody = closed({
  planHash: Type.Optional(
    Type.String({
      description: 'The `planHash` that was read: another plan is then not approved, but refused with 409',
    }),
  ),
});

export const approveDeployment = operation('approveDeployment', {
  family,
  summary: 'Approve deployment',
  description:
    'Lets a deployment that waits for a person go on. 409 where it does not wait, or where its plan is outdated.',
  needs: 'RUN_APPLY',
  subject: thisDeployment,
  params: byId,
  body: ApproveBody,
  bodyOptional: true,
  reply: DeploymentReference,
});

export const cancelDeployment = operation('cancelDeployment', {
  family,
  summary: 'Cancel deployment',
  description:
    'Refuses one that waits for a person, or drops one that is queued. What runs is aborted instead.',
  needs: 'RUN_PLAN',
  subject: thisDeployment,
  params: byId,
  reply: DeploymentReference,
});

export const cancelQueuedDeployments = operation('cancelQueuedDeployments', {
  family,
  summary: 'Cancel all queued deployments',
  needs: 'RUN_PLAN',
  subject: thisEnvironment,
  params: byId,
  query: Type.Object({ status: Type.Optional(oneOf(['QUEUED'])) }),
  reply: replyObject('CancelledDeployments', { ids: Type.Array(Text) }),
});

export const abortDeployment = operation('abortDeployment', {
  family,
  summary: 'Abort deployment',
  description:
    'Interrupts the running tool, which gets time to end by itself and is then killed. Its state is kept.',
  needs: 'ABORT_DEPLOYMENT',
  subject: thisDeployment,
  params: byId,
  reply: Type.Null(),
});

export const ReleaseBody = closed({
  reason: Type.String({
    minLength: 1,
    description: 'Why it is certain that the run is gone; kept in the audit trail',
  }),
});

export const releaseDeployment = operation('releaseDeployment', {
  family,
  summary: 'Give up a deployment whose agent is silent',
  description:
    'Frees the environment before the service would do so by itself. Only for a run whose agent is out of reach: what is in contact is aborted instead. A state that arrives later is kept as rescued.',
  needs: 'FORCE_UNLOCK_WORKSPACE',
  subject: thisDeployment,
  params: byId,
  body: ReleaseBody,
  reply: DeploymentReference,
});

export const DriftStatusResult = replyObject('DriftStatusResult', {
  driftDeployment: Deployment,
  eventsScanStatus: oneOf(eventsScanStatuses),
  currentEventsDate: Type.Optional(Instant),
});

export const getDriftStatus = operation('getDriftStatus', {
  family,
  summary: 'Find deployment drift status',
  description: '404 where the deployment is no drift run.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeployment,
  params: byId,
  reply: DriftStatusResult,
  inInterface: true,
});

export const listDeploymentResources = operation('listDeploymentResources', {
  family,
  summary: 'List resources of a deployment',
  description: 'While it applies, those that are there so far.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeployment,
  params: byId,
  reply: Type.Array(Resource),
});

export const streamDeployment = operation('streamDeployment', {
  family,
  summary: 'Follow a deployment',
  description:
    'Server-sent events from the beginning, or from after the header `Last-Event-ID`: status, steps, log bytes, resources, and `end`.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeployment,
  params: byId,
  reply: DeploymentStreamEvent,
  replyKind: 'event-stream',
});

export const listSteps = operation('listSteps', {
  family,
  summary: 'List steps of a deployment',
  description: 'In their order; those to come are NOT_STARTED.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeploymentLog,
  params: byDeploymentLogId,
  reply: Type.Array(Step),
});

export const getStepLog = operation('getStepLog', {
  family,
  summary: 'Get log of a step',
  description:
    'A page of lines. Go on with `startTime` = `nextStartTime` while `hasMoreLogs` or the step runs; nothing comes twice. 400 for a step that has not started.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisDeploymentLog,
  params: Type.Object({ ...byDeploymentLogId.properties, name: Name }),
  query: Type.Object({
    startTime: Type.Optional(
      Type.String({ description: 'As `nextStartTime` gave it; empty or absent: from the beginning' }),
    ),
  }),
  reply: StepLog,
});
