import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProgressEvent } from '../drivers/interface/driver.ts';
import { unrecordedResources } from './unrecorded-resources.ts';

const event = (
  name: string,
  status: ProgressEvent['status'],
  more: Partial<ProgressEvent> = {},
): ProgressEvent => ({
  address: `t.${name}`,
  provider: 'p',
  type: 't',
  name,
  moduleName: '',
  status,
  action: 'create',
  ...more,
});

const contents = (ids: Readonly<Record<string, string | undefined>>) => ({
  resources: Object.keys(ids).map((name) => ({ provider: 'p', type: 't', name, moduleName: '' })),
  ids: Object.values(ids),
});

test('a resource that replaces another one is listed if the state still has the earlier one', () => {
  const before = contents({ made: 'i-1', begun: 'i-2', kept: 'i-3', same: 'bucket', odd: undefined });
  const events = [
    event('made', 'done', { action: 'delete' }),
    event('made', 'done', { id: 'i-4' }),
    event('begun', 'started'),
    event('kept', 'started'),
    event('same', 'done', { id: 'bucket' }),
    event('odd', 'started'),
  ];
  assert.deepEqual(
    unrecordedResources(
      events,
      contents({ made: 'i-1', begun: 'i-2', kept: 'i-5', same: 'bucket', odd: undefined }),
      before,
    ),
    [
      { address: 't.made', id: 'i-4', certainty: 'created' },
      { address: 't.begun', certainty: 'may exist' },
    ],
  );
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
  assert.deepEqual(unrecordedResources(events, contents({ kept: 'i-0' }), null), [
    { address: 't.made', id: 'i-1', certainty: 'created' },
    { address: 't.begun', certainty: 'may exist' },
  ]);
});

test('with an encrypted state, only unfinished resources are listed', () => {
  const events = [event('made', 'started'), event('made', 'done'), event('begun', 'started')];
  assert.deepEqual(unrecordedResources(events, null, null), [{ address: 't.begun', certainty: 'may exist' }]);
});
