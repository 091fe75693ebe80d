/** A deployment (on the wire: deployment log) as replies carry it, its steps and its log. */
import { type Static, Type } from 'typebox';
import {
  autoDriftRemediations,
  deploymentStatuses,
  deploymentTypes,
  eventsScanStatuses,
  oneOf,
  reviewActions,
  stepStatuses,
  templateTypes,
  triggerNames,
  triggers,
} from '../schema/enumerations.ts';
import { AnyObject, Count, closed, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';
import { DeploymentVariable } from '../variables/shapes.ts';
import { CustomServiceEnvironmentVariables } from './custom-variables.ts';
import { Diagnostic } from './diagnostic-shape.ts';
import {
  CostEstimation,
  DeploymentErrorBody,
  DeploymentOutputs,
  DriftCause,
  GitMetadata,
  Plan,
  PlannedUnit,
  PlanSummary,
  Resource,
  UnrecordedResource,
  Versions,
  WaitingFor,
} from './plan.ts';
import { PolicyVerdict } from './policy-verdict.ts';

/** A person's decision about a plan. */
export const Review = Type.Object(
  {
    user: User,
    action: oneOf(reviewActions),
    at: Type.String({ format: 'date-time', description: 'When it was decided' }),
    planHash: Type.Optional(Type.String({ description: 'The plan that it is about' })),
    comment: Type.Optional(Text),
  },
  { title: 'Review' },
);
export type Review = Static<typeof Review>;

export const WorkflowDeploymentOptions = closed(
  {
    node: Text,
    operation: oneOf(['single-node-deploy', 'single-node-destroy', 'run-from-here']),
  },
  'WorkflowDeploymentOptions',
);

const deploymentFields = {
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  type: oneOf(deploymentTypes),
  status: oneOf(deploymentStatuses),
  environmentId: Text,
  startedBy: Text,
  startedByUser: User,
  queuedAt: Instant,
  startedAt: Instant,
  finishedAt: Instant,
  blueprintId: Text,
  blueprintName: Text,
  blueprintRepository: Text,
  blueprintRevision: Type.String({ description: 'As requested; empty: the default branch' }),
  blueprintPath: Text,
  blueprintType: oneOf(templateTypes),
  output: DeploymentOutputs,
  error: DeploymentErrorBody,
  costEstimation: CostEstimation,
  resourceCount: Count,
  isScheduledRun: Flag,
  abortedBy: Text,
  abortedByUser: User,
  reviewersUsers: Type.Array(Type.Object({ user: User, action: oneOf(reviewActions) })),
  reviewers: Type.Array(Type.Object({ userId: Text, action: oneOf(reviewActions) })),
  failedCommand: Type.Optional(Text),
  customServiceEnvironmentVariables: Type.Optional(CustomServiceEnvironmentVariables),
  comment: Type.Optional(Text),
  resources: Type.Optional(Type.Array(Resource)),
  gitUser: Type.Optional(Text),
  gitAvatarUrl: Type.Optional(Text),
  prNumber: Type.Optional(Text),
  triggerName: Type.Optional(oneOf(triggerNames)),
  driftDetected: Type.Optional(Flag),
  plan: Type.Optional(Plan),
  planSummary: Type.Optional(PlanSummary),
  isSkippedApply: Type.Optional(Flag),
  workflowDeploymentId: Type.Optional(Text),
  workflowFile: Type.Optional(AnyObject),
  workflowDeploymentOptions: Type.Optional(WorkflowDeploymentOptions),
  stateVersionId: Type.Optional(Text),
  reviewedBy: Type.Optional(Text),
  reviewedByUser: Type.Optional(User),
  targets: Type.Optional(Type.Array(Text)),
  variables: Type.Optional(Type.Array(DeploymentVariable)),
  gitMetadata: Type.Optional(GitMetadata),
  providerVersions: Type.Optional(Versions),
  moduleVersions: Type.Optional(Versions),
  driftCause: Type.Optional(DriftCause),
  stateFileHash: Type.Optional(Type.Object({ value: Type.Optional(Text) })),
};

/** Consequence of the drift that a drift run found. */
export const Remediation = Type.Object(
  {
    strategy: oneOf(autoDriftRemediations),
    deploymentId: Type.Optional(Type.String({ description: 'The deployment that was started' })),
    reason: Type.Optional(Type.String({ description: 'Why none was started' })),
  },
  { title: 'Remediation' },
);
export type Remediation = Static<typeof Remediation>;

/** The plan of an earlier level of a deployment, which was applied. */
export const DeploymentLevel = Type.Object(
  {
    level: Count,
    appliedAt: Type.String({ format: 'date-time', description: 'When its apply ended' }),
    plan: Type.Optional(Plan),
    planSummary: Type.Optional(PlanSummary),
    planHash: Type.Optional(Type.String({ description: 'Identifies what was approved' })),
    units: Type.Optional(
      Type.Array(PlannedUnit, { description: 'The units that it applied, and those that followed' }),
    ),
  },
  { title: 'DeploymentLevel' },
);
export type DeploymentLevel = Static<typeof DeploymentLevel>;

/** Ours, beyond the interface. */
const ownDeploymentFields = {
  trigger: Type.Optional(oneOf(triggers, 'What caused it, in full; `triggerName` names only some causes')),
  waitingFor: Type.Optional(WaitingFor),
  diagnostics: Type.Optional(
    Type.Array(Diagnostic, {
      description:
        'Errors, failed checks and warnings of the tool, in this order, at most 100; absent in lists, and where there are none',
    }),
  ),
  isPlanEmpty: Type.Optional(
    Type.Boolean({
      description:
        'Whether an apply of the plan changes nothing: no resource, no output, and nothing in the state, such as a ' +
        'move or an import. Absent as long as there is no plan',
    }),
  ),
  planHash: Type.Optional(
    Type.String({
      description:
        'SHA-256 over plan file, commit, tool version, lock file and variables: identifies what is ' +
        'approved',
    }),
  ),
  level: Type.Optional(
    Type.Integer({
      minimum: 2,
      description:
        'Which of its plans this is, if units are planned after others were applied: `plan`, `planSummary`, `planHash` and ' +
        '`units` are about this one, and about all once the deployment has succeeded; absent: the first',
    }),
  ),
  earlierLevels: Type.Optional(
    Type.Array(DeploymentLevel, {
      description: 'The plans that were applied before this one; absent in lists, and without any',
    }),
  ),
  units: Type.Optional(
    Type.Array(PlannedUnit, {
      description: 'Of a deployment of several units: what its plan applies, and what follows it',
    }),
  ),
  reviews: Type.Optional(
    Type.Array(Review, {
      description: 'The same decisions as in `reviewers`, with what else is known of them',
    }),
  ),
  skippedFor: Type.Optional(
    Type.String({ description: 'With status SKIPPED: the later deployment that made it redundant' }),
  ),
  causedBy: Type.Optional(
    Type.String({
      description:
        'The deployment that caused it: the drift run of a remediation, or the one of the upstream environment',
    }),
  ),
  upstreamEnvironmentId: Type.Optional(
    Type.String({ description: 'The environment whose deployment it follows' }),
  ),
  autoDriftRemediationStrategy: Type.Optional(
    oneOf(autoDriftRemediations, 'Of a drift run with a strategy of its own'),
  ),
  remediation: Type.Optional(Remediation),
  agentId: Type.Optional(Type.String({ description: 'The agent that runs it or last ran it' })),
  unrecordedResources: Type.Optional(Type.Array(UnrecordedResource)),
  policyVerdicts: Type.Optional(
    Type.Array(PolicyVerdict, {
      description:
        'Verdicts of the approval policies, by round and name; absent in lists, and where none was evaluated',
    }),
  ),
};

export const Deployment = replyObject('Deployment', {
  id: Type.Optional(Text),
  ...deploymentFields,
  ...ownDeploymentFields,
});
export type Deployment = Static<typeof Deployment>;

/** Reply to the start of one: the same, `id` always present. */
export const StartedDeployment = Type.Object(
  { ...Deployment.properties, id: Text },
  { title: 'StartedDeployment' },
);
export type StartedDeployment = Static<typeof StartedDeployment>;

export const DeploymentReference = replyObject('DeploymentReference', {
  id: Text,
  status: oneOf(deploymentStatuses),
});
export type DeploymentReference = Static<typeof DeploymentReference>;

export const EnvironmentOutput = replyObject('EnvironmentOutput', {
  id: Type.String({ description: '`<environment id>:<name>`, as references in `${envarium:…}` have it' }),
  environmentId: Text,
  name: Text,
  isSensitive: Type.Boolean({ description: 'Whether the value is masked wherever it is used' }),
  environmentName: Text,
});
export type EnvironmentOutput = Static<typeof EnvironmentOutput>;

export const Step = replyObject('Step', {
  id: Text,
  deploymentLogId: Text,
  name: Text,
  order: Count,
  projectId: Text,
  organizationId: Text,
  environmentId: Type.Optional(Text),
  status: oneOf(stepStatuses),
  startedAt: Type.Optional(Instant),
  completedAt: Type.Optional(Instant),
  displayName: Type.Optional(Text),
  retryCount: Type.Optional(Count),
});
export type Step = Static<typeof Step>;

export const LogEvent = replyObject('LogEvent', {
  eventId: Text,
  message: Text,
  level: Text,
  timestamp: Text,
});
export type LogEvent = Static<typeof LogEvent>;

export const StepLog = replyObject('StepLog', {
  events: Type.Array(LogEvent),
  nextStartTime: Type.Optional(
    Type.String({ description: 'Send it as `startTime` to get only later lines' }),
  ),
  hasMoreLogs: Flag,
});
export type StepLog = Static<typeof StepLog>;

export const UploadedSource = replyObject('UploadedSource', {
  id: Type.String({ description: 'Send it as `sourceId` with `deploymentType` remotePlan' }),
  environmentId: Text,
  bytes: Count,
  sha256: Text,
  path: Type.String({ description: 'Folder of the configuration inside the archive; empty: its root' }),
  createdAt: Instant,
  expiresAt: Instant,
});
export type UploadedSource = Static<typeof UploadedSource>;

export const DriftStatusResult = replyObject('DriftStatusResult', {
  driftDeployment: Deployment,
  eventsScanStatus: oneOf(eventsScanStatuses),
  currentEventsDate: Type.Optional(Instant),
});
