/**
 * The event stream of one deployment (server-sent events). Each event's `id` is an opaque cursor: sent back
 * as `Last-Event-ID`, the stream continues right after it, with no event lost or duplicated. `end` is the
 * last event; after it the server closes the stream. A request to continue after it returns 204, which tells a
 * browser to stop. Comments keep a quiet stream alive.
 */
import { type Static, Type } from 'typebox';
import { WaitingFor } from '../deployments/plan.ts';
import { Step } from '../deployments/shapes.ts';
import { deploymentStatuses, deploymentTypes, environmentStatuses, oneOf } from '../schema/enumerations.ts';
import { Count, Instant, replyObject, Text } from '../schema/schema.ts';

export const DeploymentStatusEvent = replyObject('DeploymentStatusEvent', {
  status: oneOf(deploymentStatuses),
  environmentStatus: oneOf(environmentStatuses),
  waitingFor: WaitingFor,
  startedAt: Instant,
  finishedAt: Instant,
});
export type DeploymentStatusEvent = Static<typeof DeploymentStatusEvent>;

/**
 * `bytes` bytes of a step's log from byte `offset` on: as `text` where they are UTF-8 (never cut inside a
 * character), else as `base64`, with the short texts that stand between other bytes.
 */
export const LogBytesEvent = replyObject('LogBytesEvent', {
  step: Text,
  offset: Count,
  bytes: Count,
  text: Type.Optional(Text),
  base64: Type.Optional(Text),
  at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the service received the first of the bytes, and all others at most a second later',
    }),
  ),
});
export type LogBytesEvent = Static<typeof LogBytesEvent>;

export const ResourceEvent = replyObject('ResourceEvent', {
  at: Instant,
  address: Text,
  provider: Text,
  type: Text,
  name: Text,
  moduleName: Text,
  status: oneOf(['started', 'done', 'failed']),
  action: oneOf(['create', 'update', 'delete', 'read']),
  id: Type.Optional(Text),
});
export type ResourceEvent = Static<typeof ResourceEvent>;

export const EndEvent = replyObject('EndEvent', {
  status: oneOf(deploymentStatuses),
  environmentStatus: oneOf(environmentStatuses),
});
export type EndEvent = Static<typeof EndEvent>;

/** Query of the streams: readers of a status do not need megabytes of log. */
export const withLog = Type.Optional(
  Type.Boolean({
    description:
      'false: without `log` events. A connection with them that continues before `end` gets them all. Default true',
  }),
);

/** Shapes of the `data` of each event, by event name. */
export const streamEventData = {
  status: DeploymentStatusEvent,
  step: Step,
  log: LogBytesEvent,
  resource: ResourceEvent,
  end: EndEvent,
} as const;

export const streamEventNames = [
  'status',
  'step',
  'log',
  'resource',
  'end',
] as const satisfies readonly (keyof typeof streamEventData)[];

/** An event of the stream; over the wire `data` is its JSON, `event` and `id` have lines of their own. */
export const DeploymentStreamEvent = Type.Union([
  Type.Object(
    { id: Text, event: Type.Literal('status'), data: DeploymentStatusEvent },
    { title: 'StatusStreamed' },
  ),
  Type.Object({ id: Text, event: Type.Literal('step'), data: Step }, { title: 'StepStreamed' }),
  Type.Object({ id: Text, event: Type.Literal('log'), data: LogBytesEvent }, { title: 'LogBytesStreamed' }),
  Type.Object(
    { id: Text, event: Type.Literal('resource'), data: ResourceEvent },
    { title: 'ResourceStreamed' },
  ),
  Type.Object({ id: Text, event: Type.Literal('end'), data: EndEvent }, { title: 'EndStreamed' }),
]);
export type DeploymentStreamEvent = Static<typeof DeploymentStreamEvent>;

const place = { projectId: Text, environmentId: Text };

export const OrganizationDeploymentEvent = replyObject('OrganizationDeploymentEvent', {
  ...place,
  deploymentLogId: Text,
  type: oneOf(deploymentTypes),
  ...DeploymentStatusEvent.properties,
});
export type OrganizationDeploymentEvent = Static<typeof OrganizationDeploymentEvent>;

export const environmentChanges = [
  'created',
  'updated',
  'moved',
  'archived',
  'returned',
  'locked',
  'unlocked',
  'ttl',
  'schedule',
  'markedForAutoDestroy',
  'autoDestroyFailed',
  'deleted',
] as const;

export const OrganizationEnvironmentEvent = replyObject('OrganizationEnvironmentEvent', {
  ...place,
  change: oneOf(environmentChanges),
  name: Text,
  status: oneOf(environmentStatuses),
  markedForAutoDestroy: Type.Optional(Count),
  fromProjectId: Type.Optional(Type.String({ description: 'With `moved`: the previous project' })),
});
export type OrganizationEnvironmentEvent = Static<typeof OrganizationEnvironmentEvent>;

/** Subjects of `changed` events: everything that has lists, apart from environments and deployments. */
export const changedEntities = [
  'organization',
  'project',
  'template',
  'variable',
  'configurationSet',
  'credential',
  'gitToken',
  'sshKey',
  'vcsConnection',
  'module',
  'provider',
  'gpgKey',
  'customFlow',
  'approvalPolicy',
  'team',
  'role',
  'roleAssignment',
  'member',
  'invitation',
  'apiKey',
  'scimToken',
  'agent',
  'notificationEndpoint',
  'discovery',
  'state',
  'auditTrail',
] as const;
export type ChangedEntity = (typeof changedEntities)[number];

export const OrganizationChangeEvent = replyObject('OrganizationChangeEvent', {
  entity: oneOf(changedEntities, 'What was created, changed or deleted'),
  id: Type.String({
    description:
      'Its id; of variables, that of their scope, of a state, that of its environment, and of the audit trail, that of the organization',
  }),
  projectId: Type.Optional(Type.String({ description: 'The project that it belongs to' })),
  environmentId: Type.Optional(Type.String({ description: 'The environment that it belongs to' })),
});
export type OrganizationChangeEvent = Static<typeof OrganizationChangeEvent>;

const followed = <Name extends keyof typeof streamEventData>(event: Name, title: string) =>
  Type.Object({ deploymentLogId: Text, event: Type.Literal(event), data: streamEventData[event] }, { title });

/** An event of the stream of one deployment, carried by that of its organization. */
export const FollowedDeploymentEvent = Type.Union([
  followed('status', 'StatusFollowed'),
  followed('step', 'StepFollowed'),
  followed('log', 'LogBytesFollowed'),
  followed('resource', 'ResourceFollowed'),
  followed('end', 'EndFollowed'),
]);
export type FollowedDeploymentEvent = Static<typeof FollowedDeploymentEvent>;

/** Shapes of the `data` of each event of an organization, by event name. */
export const organizationEventData = {
  deployment: OrganizationDeploymentEvent,
  step: Step,
  environment: OrganizationEnvironmentEvent,
  changed: OrganizationChangeEvent,
  /** Only with `deploymentLogId`. */
  deploymentEvent: FollowedDeploymentEvent,
  /** The first event of each connection, with the position at which it continues. */
  ready: Type.Object({}),
  /** Instead of `ready` where events in between are no longer kept. */
  reset: Type.Object({}),
} as const;

export const OrganizationStreamEvent = Type.Union([
  Type.Object(
    { id: Text, event: Type.Literal('deployment'), data: OrganizationDeploymentEvent },
    { title: 'DeploymentChanged' },
  ),
  Type.Object({ id: Text, event: Type.Literal('step'), data: Step }, { title: 'StepChanged' }),
  Type.Object(
    { id: Text, event: Type.Literal('environment'), data: OrganizationEnvironmentEvent },
    { title: 'EnvironmentChanged' },
  ),
  Type.Object(
    { id: Text, event: Type.Literal('changed'), data: OrganizationChangeEvent },
    { title: 'SomethingChanged' },
  ),
  Type.Object(
    { id: Text, event: Type.Literal('deploymentEvent'), data: FollowedDeploymentEvent },
    { title: 'DeploymentFollowed' },
  ),
  Type.Object({ id: Text, event: Type.Literal('ready'), data: Type.Object({}) }, { title: 'StreamBegins' }),
  Type.Object({ id: Text, event: Type.Literal('reset'), data: Type.Object({}) }, { title: 'EventsLost' }),
]);
export type OrganizationStreamEvent = Static<typeof OrganizationStreamEvent>;
