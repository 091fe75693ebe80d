/** Shapes of replies about the audit trail. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { AnyObject, Count, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

/** Possible findings of a verification. */
export const auditFindingKinds = [
  'entryChanged',
  'entryRemoved',
  'entryForged',
  'entryNotLinked',
  'linkChanged',
  'linkRemoved',
  'endRemoved',
  'headChanged',
  'headNotFound',
  'breakRecorded',
  'lineUnreadable',
] as const;
export type AuditFindingKind = (typeof auditFindingKinds)[number];

const Sha256 = Type.String({ description: 'SHA-256 in hexadecimal digits' });

export const AuditChainLink = replyObject('AuditChainLink', {
  number: Type.Integer({ minimum: 1, description: 'In the chain of the organization, from 1 without gaps' }),
  previousHash: Sha256,
  contentHash: Sha256,
  hash: Sha256,
});

const content = {
  id: Text,
  organizationId: Type.Optional(Text),
  projectId: Type.Optional(Text),
  actorId: Text,
  keyId: Type.Optional(Text),
  ipAddress: Type.Optional(Text),
  actionName: Text,
  entity: Text,
  entityId: Text,
  requestId: Type.Optional(Text),
  timestamp: Instant,
  payload: AnyObject,
  before: Type.Optional(AnyObject),
  after: Type.Optional(AnyObject),
  link: AuditChainLink,
} as const;

export const AuditEvent = replyObject('AuditEvent', { ...content, actor: User });
export type AuditEvent = Static<typeof AuditEvent>;

export const AuditEvents = replyObject('AuditEvents', {
  events: Type.Array(AuditEvent),
  nextPageKey: Type.String({ description: '`offset` of the next page; empty on the last one' }),
});
export type AuditEvents = Static<typeof AuditEvents>;

export const AuditFinding = replyObject('AuditFinding', {
  kind: oneOf(auditFindingKinds),
  chain: Type.String({ description: 'Id of the organization, `installation` or `root`' }),
  number: Type.Optional(Type.Integer({ description: 'Of the entry in its chain' })),
  entryId: Type.Optional(Text),
  text: Text,
});

export const AuditHead = replyObject('AuditHead', {
  chain: Text,
  number: Count,
  hash: Sha256,
});

export const AuditVerification = replyObject('AuditVerification', {
  isIntact: Flag,
  checkedAt: Instant,
  entries: Count,
  findings: Type.Array(AuditFinding, { description: 'At most 1000' }),
  findingCount: Count,
  heads: Type.Array(AuditHead, { description: 'The last entry of each chain: keep its hash elsewhere' }),
});
export type AuditVerification = Static<typeof AuditVerification>;
