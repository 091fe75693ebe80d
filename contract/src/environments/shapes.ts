/** An environment as replies carry it. */
import { type Static, Type } from 'typebox';
import { Resource, WaitingFor } from '../deployments/plan.ts';
import { Deployment } from '../deployments/shapes.ts';
import { driftStatuses, environmentStatuses, oneOf } from '../schema/enumerations.ts';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const LockStatus = replyObject('LockStatus', {
  reason: Type.Optional(Text),
  updatedBy: Text,
  updatedByUser: Type.Optional(User),
  updatedAt: Instant,
});
export type LockStatus = Static<typeof LockStatus>;

export const Environment = replyObject('Environment', {
  id: Text,
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  name: Text,
  organizationId: Text,
  projectId: Text,
  projectName: Type.String({ description: 'Name of the project' }),
  userId: Text,
  user: User,
  workspaceName: Text,
  requiresApproval: Flag,
  status: oneOf(environmentStatuses),
  latestDeploymentLogId: Text,
  latestDeploymentLog: Deployment,
  queueLength: Type.Integer({ minimum: 0, description: 'Number of its deployments with status QUEUED' }),
  lifespanEndAt: Instant,
  markedForAutoDestroy: Type.Unsafe<0 | 1 | 2 | 3>({
    type: 'integer',
    enum: [0, 1, 2, 3],
    description: 'Number of notices sent before an automatic destroy',
  }),
  isArchived: Type.Boolean({ description: 'Marks the environment inactive' }),
  nextScheduledDates: Type.Object({ deploy: Type.Optional(Instant), destroy: Type.Optional(Instant) }),
  continuousDeployment: Flag,
  pullRequestPlanDeployments: Flag,
  autoDeployOnPathChangesOnly: Flag,
  isRemoteBackend: Flag,
  isLocked: Flag,
  driftStatus: oneOf(driftStatuses),
  vcsCommandsAlias: Type.Optional(Text),
  vcsPrCommentsEnabled: Type.Optional(Flag),
  autoDeployByCustomGlob: Type.Optional(Text),
  terragruntWorkingDirectory: Type.Optional(Text),
  isSingleUseBlueprint: Type.Optional(Flag),
  workflowEnvironmentId: Type.Optional(Text),
  lockStatus: Type.Optional(LockStatus),
  k8sNamespace: Type.Optional(Text),
  isRemoteApplyEnabled: Type.Optional(Flag),
  blueprintId: Type.Optional(Text),
  resources: Type.Optional(Type.Array(Resource)),
  waitingFor: Type.Optional(WaitingFor),
  tags: Type.Array(Text),
  description: Type.Optional(Text),
});
export type Environment = Static<typeof Environment>;

/** Reply to the creation of one: the same, `blueprintId` always present. */
export const CreatedEnvironment = Type.Object(
  { ...Environment.properties, blueprintId: Text },
  { title: 'CreatedEnvironment' },
);
export type CreatedEnvironment = Static<typeof CreatedEnvironment>;

export const EnvironmentLock = replyObject('EnvironmentLock', { isLocked: Flag, ...LockStatus.properties });
export type EnvironmentLock = Static<typeof EnvironmentLock>;

const number = (word: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `How many are ${word}; absent: none` }));

const counts = <Word extends string>(words: readonly Word[]) =>
  Object.fromEntries(words.map((word) => [word, number(word)])) as Record<Word, ReturnType<typeof number>>;

export const StatusCounts = replyObject('StatusCounts', {
  ...counts(environmentStatuses),
  driftStatus: replyObject('DriftStatusCounts', counts(driftStatuses), 'The same by drift status'),
  total: Type.Integer({ minimum: 0, description: 'How many there are' }),
});
export type StatusCounts = Static<typeof StatusCounts>;
