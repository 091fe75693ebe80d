import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkFolderLocks } from './work-folder-locks.ts';

test('later runs wait for all earlier ones in the same folder', async () => {
  const places = new WorkFolderLocks();
  const order: string[] = [];
  const first = await places.enter('/a');
  const second = places.enter('/a').then((place) => (order.push('second'), place));
  const third = places.enter('/a').then((place) => (order.push('third'), place));
  (await places.enter('/b'))[Symbol.dispose]();
  assert.deepEqual(order, []);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  assert.deepEqual(order, ['second', 'third']);
  (await places.enter('/a'))[Symbol.dispose]();
});
