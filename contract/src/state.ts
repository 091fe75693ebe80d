/** Versions of an environment's state. */
import { type Static, Type } from 'typebox';
import { oneOf } from './enumerations.ts';
import { operation } from './operation.ts';
import { Count, Instant, Name, offsetOf, replyObject, Text } from './schema.ts';

export const stateStandings = ['current', 'superseded', 'rescued'] as const;

export const StateVersion = replyObject('StateVersion', {
  id: Text,
  createdAt: Instant,
  updatedAt: Instant,
  environmentId: Text,
  deploymentLogId: Type.Optional(Text),
  serial: Count,
  lineage: Text,
  sha256: Text,
  bytes: Count,
  follows: Type.Optional(Type.String({ description: 'The version that it was made from' })),
  standing: oneOf(stateStandings, '`rescued`: it arrived after another one had become current; compare before use'),
  resourceCount: Type.Optional(Count),
});
export type StateVersion = Static<typeof StateVersion>;

const family = 'state';
const byId = Type.Object({ id: Name });
const thisVersion = { entity: 'stateVersion', in: 'params', field: 'id' } as const;

export const listStateVersions = operation('listStateVersions', {
  family,
  summary: 'List state versions',
  description: 'Of one environment, newest first. `x-total-count` has the number before paging.',
  needs: 'READ_STATE',
  subject: { entity: 'environment', in: 'params', field: 'id' },
  params: byId,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 100' })),
    offset: Type.Optional(offsetOf('version')),
  }),
  reply: Type.Array(StateVersion),
});

export const getStateVersion = operation('getStateVersion', {
  family,
  summary: 'Get state version',
  needs: 'READ_STATE',
  subject: thisVersion,
  params: byId,
  reply: StateVersion,
});

export const getStateContent = operation('getStateContent', {
  family,
  summary: 'Download state',
  description: 'The state file as the tool wrote it, secrets in clear.',
  needs: 'READ_STATE',
  subject: thisVersion,
  params: byId,
  reply: Type.Unknown(),
  replyKind: 'binary',
});
