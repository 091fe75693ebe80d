/** What replies about agents carry. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { AnyObject, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const agentStatuses = ['ACTIVE', 'INACTIVE', 'DEGRADED'] as const;

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
  health: Type.Optional(AnyObject),
});
export type Agent = Static<typeof Agent>;

export const AgentSecret = replyObject('AgentSecret', {
  secret: Type.String({ description: 'Shown only once' }),
  createdBy: User,
  agentId: Text,
  id: Type.Optional(Text),
  description: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
});
export type AgentSecret = Static<typeof AgentSecret>;
