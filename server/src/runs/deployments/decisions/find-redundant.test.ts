import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRedundant, type RedundancyFacts } from './find-redundant.ts';

/** `d1` is a deploy, `x1` a destroy, `t1` a task, `p1` a plan of a pull request; `d1:a,b` is limited to targets. */
function queueOf(text: string, status: RedundancyFacts['status'] = 'QUEUED'): RedundancyFacts[] {
  const types: Record<string, string> = { d: 'deploy', x: 'destroy', t: 'task', p: 'prPlan' };
  return text.split(' ').map((each) => {
    const [id = '', targets] = each.split(':');
    return { id, type: types[id[0] ?? ''] ?? '', status, targets: targets?.split(',') ?? [] };
  });
}

const redundantIn = (text: string) =>
  findRedundant(queueOf(text)).map(({ id, skippedFor }) => `${id}>${skippedFor}`);

test('queued deploys are redundant up to the last one, or up to the next destroy', () => {
  assert.deepEqual(redundantIn('d1'), []);
  assert.deepEqual(redundantIn('d1 d2 d3'), ['d1>d3', 'd2>d3']);
  assert.deepEqual(redundantIn('d1 d2 x1 d3 d4'), ['d1>x1', 'd2>x1']);
  assert.deepEqual(redundantIn('x1 d1 d2'), []);
  assert.deepEqual(redundantIn('d1 t1 p1 d2 t2'), ['d1>d2']);
});

test('a deploy of targets replaces only those that it includes', () => {
  assert.deepEqual(redundantIn('d1 d2:a'), []);
  assert.deepEqual(redundantIn('d1:a d2:b d3:a,b d4:a'), ['d1>d4', 'd2>d3']);
  assert.deepEqual(redundantIn('d1 d2 d3:a'), ['d1>d2']);
  assert.deepEqual(redundantIn('d1:a x1'), ['d1>x1']);
});

test('nothing is redundant while a deployment is active: the next one is picked when it ends', () => {
  for (const status of ['IN_PROGRESS', 'WAITING_FOR_USER', 'ABORTING'] as const)
    assert.deepEqual(findRedundant([...queueOf('d1', status), ...queueOf('d2 d3')]), []);
  assert.deepEqual(findRedundant([...queueOf('p1', 'IN_PROGRESS'), ...queueOf('d2 d3')]).length, 1);
});
