import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { QueryClient } from '@tanstack/react-query';
import type { OperationName } from '#contract/operations.ts';
import { Rereads } from './rereads.ts';

test('lists that show an event already are read once and later, everything else soon', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const outdated = () =>
    queries
      .getQueryCache()
      .findAll({ predicate: ({ state }) => state.isInvalidated })
      .map(({ queryHash }) => queryHash);
  const [all, waiting, one] = [
    ['listEnvironments', {}],
    ['listEnvironments', { status: 'x' }],
    ['getEnvironment'],
  ];
  for (const key of [all, waiting, one, ['listTeams']]) queries.setQueryData(key!, []);
  const rereads = new Rereads(queries);
  const names: OperationName[] = ['listEnvironments', 'getEnvironment'];
  const hashOf = (key: unknown) => JSON.stringify(key);
  for (let event = 0; event < 3; event++) rereads.take(names, new Set([hashOf(all), hashOf(one)]));
  mock.timers.tick(100);
  await Promise.resolve();
  assert.deepEqual(outdated().toSorted(), [waiting, one].map(hashOf).toSorted());
  mock.timers.tick(800);
  await Promise.resolve();
  assert.equal(
    outdated().includes(hashOf(all)),
    false,
    'a list that shows the event waits for at least a second',
  );
  mock.timers.tick(1200);
  await Promise.resolve();
  assert.deepEqual(outdated().toSorted(), [all, waiting, one].map(hashOf).toSorted());
});

test('one of many reads of an operation is read again by its id', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  const keyOf = (id: string) => ['getDeployment', { params: { id }, query: { exclude_fields: 'plan' } }];
  for (const id of ['shown', 'other']) queries.setQueryData(keyOf(id), {});
  new Rereads(queries).later('getDeployment', 'shown');
  mock.timers.tick(2000);
  await Promise.resolve();
  const isOutdated = (id: string) => queries.getQueryState(keyOf(id))?.isInvalidated;
  assert.deepEqual([isOutdated('shown'), isOutdated('other')], [true, false]);
});
