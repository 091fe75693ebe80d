/** Shapes of replies about state. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Count, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const stateStandings = ['current', 'superseded', 'rescued'] as const;

export const StateVersion = replyObject('StateVersion', {
  id: Text,
  createdAt: Instant,
  updatedAt: Instant,
  environmentId: Text,
  origin: oneOf(
    ['run', 'moved', 'http', 'import', 'rollback', 'promotion'],
    'What created it: a run; a run that moved it from the backend of the code; a tool over HTTP; a person, by import, rollback or promotion',
  ),
  deploymentLogId: Type.Optional(Type.String({ description: 'The deployment whose run created it' })),
  createdBy: Type.Optional(
    Type.String({ description: 'The person or key that created it; absent if a run did' }),
  ),
  createdByUser: Type.Optional(User),
  comment: Type.Optional(Text),
  madeFrom: Type.Optional(
    Type.String({ description: 'The version whose content was restored by a rollback or promotion' }),
  ),
  serial: Count,
  lineage: Text,
  terraformVersion: Type.Optional(Type.String({ description: 'The version of the tool that wrote it' })),
  sha256: Text,
  bytes: Count,
  follows: Type.Optional(Type.String({ description: 'The version that it is based on' })),
  standing: oneOf(
    stateStandings,
    '`rescued`: it arrived after another one had become current; compare before use',
  ),
  resourceCount: Type.Optional(Count),
});
export type StateVersion = Static<typeof StateVersion>;

const changes = ['added', 'removed', 'changed'] as const;
const Sides = { before: Type.Optional(Type.Unknown()), after: Type.Optional(Type.Unknown()) };

export const StateComparison = replyObject('StateComparison', {
  before: StateVersion,
  after: StateVersion,
  isSameLineage: Type.Boolean({
    description: 'false: the two are states of different infrastructure, or one was recreated',
  }),
  resources: Type.Array(
    Type.Object({
      address: Text,
      change: oneOf(changes),
      mode: oneOf(['managed', 'data']),
      type: Text,
      name: Text,
      moduleName: Type.Optional(Text),
      provider: Type.Optional(Text),
      attributes: Type.Array(Type.Object({ name: Text, isSensitive: Flag, ...Sides })),
    }),
    { description: 'Instances that differ, by address; sensitive values are replaced' },
  ),
  outputs: Type.Array(Type.Object({ name: Text, change: oneOf(changes), isSensitive: Flag, ...Sides })),
  unchangedResourceCount: Count,
});
export type StateComparison = Static<typeof StateComparison>;

export const StateLock = replyObject('StateLock', {
  lockId: Type.String({ description: "The tool's id of its lock" }),
  since: Instant,
  heldBy: Type.String({ description: 'The API key that the tool used' }),
  heldByUser: User,
  who: Type.Optional(Type.String({ description: 'Who and where, as reported by the tool' })),
  operation: Type.Optional(Text),
  info: Type.Optional(Text),
  version: Type.Optional(Text),
});
export type StateLock = Static<typeof StateLock>;

export const StateAccess = replyObject('StateAccess', {
  id: Type.Optional(Text),
  environmentId: Text,
  accessibleFromEntireOrganization: Flag,
  allowedProjectIds: Type.Array(Text),
});
export type StateAccess = Static<typeof StateAccess>;
