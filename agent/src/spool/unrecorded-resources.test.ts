import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '#protocol/messages/report.ts';
import { unrecordedResources } from './unrecorded-resources.ts';

type ResourceEvent = Extract<RunEvent, { kind: 'resource' }>;
const event = (
  name: string,
  status: ResourceEvent['status'],
  more: Partial<ResourceEvent> = {},
): RunEvent => ({
  kind: 'resource',
  at: '2026-01-01T00:00:00.000Z',
  address: `t.${name}`,
  provider: 'p',
  type: 't',
  name,
  moduleName: '',
  status,
  action: 'create',
  ...more,
});

test('created resources outside the state are listed with their id, unfinished ones as possible', () => {
  const events = [
    event('kept', 'done'),
    event('made', 'started'),
    event('made', 'done', { id: 'i-1' }),
    event('begun', 'started'),
    event('broken', 'started'),
    event('broken', 'failed'),
    event('gone', 'started', { action: 'delete' }),
  ];
  assert.deepEqual(
    unrecordedResources(events, [{ provider: 'p', type: 't', name: 'kept', moduleName: '' }]),
    [
      { address: 't.made', id: 'i-1', certainty: 'created' },
      { address: 't.begun', certainty: 'may exist' },
    ],
  );
});

test('with an encrypted state, only unfinished resources are listed', () => {
  const events = [event('made', 'started'), event('made', 'done'), event('begun', 'started')];
  assert.deepEqual(unrecordedResources(events, null), [{ address: 't.begun', certainty: 'may exist' }]);
});
