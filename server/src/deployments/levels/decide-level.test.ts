import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedUnit } from '#contract/deployments/plan.ts';
import type { ApprovedParts } from '#protocol/messages/job.ts';
import { beyondConfirmed, nextLevel } from './decide-level.ts';

const parts: ApprovedParts = { commit: 'c', toolVersion: '1', lockFile: 'l', variables: 'v', planFile: 'p' };
const unit = (
  name: string,
  changes?: Record<string, number>,
  more: Partial<PlannedUnit> = {},
): PlannedUnit => ({
  unit: name,
  ...(changes ? { changes } : {}),
  ...more,
});
const waits = { reason: 'it waits', follows: true } as const;

test('what follows is planned next, and each level is smaller than the one before', () => {
  const first = [unit('vpc', {}), unit('app', undefined, waits), unit('far', {}, { reason: 'it waits' })];
  const second = nextLevel(null, first);
  assert.deepEqual(second, { number: 2, units: ['app'], done: ['vpc'] });
  assert.equal(nextLevel(second, [unit('app', {})]), null);
  assert.equal(nextLevel(second, [unit('app', {}, waits)]), null);
  assert.equal(nextLevel(null, [unit('vpc', {})]), null);
  assert.equal(nextLevel(null, null), null);
  const wide = { number: 2, units: ['app', 'web'], done: ['vpc'] };
  assert.deepEqual(nextLevel(wide, [unit('app', {}), unit('web', {}, waits), unit('new', {}, waits)]), {
    number: 3,
    units: ['web'],
    done: ['vpc', 'app'],
  });
});

test('a plan is within an approved one up to its kinds and numbers of changes, by unit', () => {
  const confirmed = { units: [unit('app', { 'create a': 2, 'update b': 1 }), unit('web')], parts };
  const beyond = (units: PlannedUnit[], more: Partial<ApprovedParts> = {}) =>
    beyondConfirmed({ units, parts: { ...parts, planFile: 'other', ...more } }, confirmed);
  assert.deepEqual(beyond([unit('app', { 'create a': 2 })]), []);
  assert.deepEqual(beyond([unit('app', {}), unit('web', { 'create a': 1 }, waits)]), []);
  assert.deepEqual(beyond([unit('app', { 'create a': 3 })]), ['app: create a (3, approved were 2)']);
  assert.deepEqual(beyond([unit('app', { 'delete a': 1 })]), ['app: delete a (1, approved were 0)']);
  assert.deepEqual(beyond([unit('web', { 'create a': 1 })]), ['web: create a (1, approved were 0)']);
  assert.deepEqual(beyond([unit('app', {})], { commit: 'other' }), ['the commit']);
  assert.deepEqual(beyond([unit('app', {})], { variables: 'other', toolVersion: '2' }), [
    'the version of the tool',
    'the variables',
  ]);
  const losing = {
    units: [unit('app', { 'destroy a': 1, 'replace b': 1, 'forget c': 1, 'update b': 1 })],
    parts,
  };
  assert.deepEqual(beyondConfirmed({ ...losing, parts: { ...parts, planFile: 'other' } }, losing), [
    'app: destroy a (1, which are confirmed one by one)',
    'app: replace b (1, which are confirmed one by one)',
    'app: forget c (1, which are confirmed one by one)',
  ]);
  assert.equal(beyond([]).length, 1);
  assert.equal(beyondConfirmed({ units: [unit('app', {})], parts }, null).length, 1);
});
