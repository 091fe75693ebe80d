/** Shapes of replies about agents. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import {
  AnyObject,
  Count,
  closed,
  Flag,
  Instant,
  mapOf,
  replyObject,
  Text,
  Title,
} from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const agentStatuses = ['ACTIVE', 'INACTIVE', 'DEGRADED'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export const AgentIsolation = replyObject('AgentIsolation', {
  hasNamespaces: Flag,
  problem: Type.Optional(Text),
  hasSystemCallFilter: Flag,
  hasOwnUsers: Flag,
  network: oneOf(['host', 'none']),
  hasControlGroups: Flag,
  controllers: Type.Array(Text),
  limits: Type.Object({
    processes: Count,
    openFiles: Count,
    memoryMegabytes: Count,
    diskMegabytes: Count,
    fileMegabytes: Count,
  }),
});
export type AgentIsolation = Static<typeof AgentIsolation>;

export const AgentProcess = replyObject('AgentProcess', {
  hostname: Type.Optional(Text),
  version: Text,
  contactAt: Instant,
  isolation: AgentIsolation,
});

export const AgentHealth = replyObject('AgentHealth', {
  lastContactAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Last contact of any of its processes' }),
  ),
  oldestQueuedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Since when the job waits that has waited the longest' }),
  ),
  queued: Type.Integer({ minimum: 0, description: 'Number of jobs that wait for the agent' }),
  running: Type.Integer({ minimum: 0, description: 'Number of jobs that the agent runs' }),
  slots: Type.Integer({
    minimum: 0,
    description: 'Number of jobs that its processes in contact can run at the same time',
  }),
  problems: Type.Array(Text, { description: 'Sentences that say what is wrong and what to do' }),
});
export type AgentHealth = Static<typeof AgentHealth>;

/** Place where clients want the logs of an agent. */
export const AgentLogs = closed({
  dynamo: Type.Optional(
    closed({
      selfHosted: Type.Optional(closed({ accountId: Title, region: Title, externalId: Title })),
    }),
  ),
});
export type AgentLogs = Static<typeof AgentLogs>;

export const Agent = replyObject('Agent', {
  agentKey: Text,
  organizationId: Text,
  status: oneOf(agentStatuses),
  id: Type.Optional(Text),
  name: Type.Optional(Text),
  description: Type.Optional(Text),
  createdBy: Type.Optional(Text),
  createdByUser: Type.Optional(User),
  version: Type.Optional(Text),
  logs: Type.Optional(Type.Object({ dynamo: Type.Optional(AnyObject) })),
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  isSaas: Type.Optional(Flag),
  isDefault: Type.Optional(Flag),
  health: Type.Optional(AgentHealth),
  processes: Type.Optional(Type.Array(AgentProcess)),
  lastContactAt: Type.Optional(Instant),
});
export type Agent = Static<typeof Agent>;

const SecretEnd = Type.String({
  format: 'date-time',
  description: 'When the secret ends; absent: never',
});
const SecretUse = Type.String({
  format: 'date-time',
  description: 'When a process last exchanged it for a token; absent: not yet',
});

export const AgentSecret = replyObject('AgentSecret', {
  secret: Type.String({ description: 'Shown only once' }),
  createdBy: User,
  agentId: Text,
  id: Type.Optional(Text),
  description: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
  expiresAt: Type.Optional(SecretEnd),
  lastUsedAt: Type.Optional(SecretUse),
});
export type AgentSecret = Static<typeof AgentSecret>;

export const AgentSecretEntry = replyObject('AgentSecretEntry', {
  id: Text,
  agentId: Text,
  createdBy: User,
  createdAt: Instant,
  description: Type.Optional(Text),
  expiresAt: Type.Optional(SecretEnd),
  lastUsedAt: Type.Optional(SecretUse),
});
export type AgentSecretEntry = Static<typeof AgentSecretEntry>;

export const ProjectAgents = replyObject('ProjectAgents', {
  defaultAgent: Type.String({ description: 'Key of the agent of projects that have no other' }),
  projectsAgents: mapOf(
    Text,
    'Agents of the projects that do not have the default agent, by id of the project',
  ),
  inheritedFrom: mapOf(Text, 'The projects above that these projects have their agents from'),
  isDefaultChosen: Type.Boolean({ description: 'Whether the organization has chosen its default agent' }),
});
export type ProjectAgents = Static<typeof ProjectAgents>;
