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

test('a later level has the programs of the plan before it', () => {
  const units = [unit('vpc', {}), unit('app', undefined, waits)];
  const level = { number: 2, units: ['app'], done: ['vpc'], toolVersion: '1' };
  assert.deepEqual(nextLevel(null, units, parts), level);
  const companions = { tofu: '1.12.6' };
  assert.deepEqual(nextLevel(null, units, { ...parts, companions }), { ...level, companions });
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
  assert.deepEqual(beyond([unit('app', {})], { lockFile: 'other' }), ['the lock file']);
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

test('a plan that other programs, providers or modules made is not within the approved one', () => {
  const confirmedParts = { ...parts, companions: { tofu: '1.12.6' } };
  const versions = { providerVersions: { aws: '5.9.0' }, moduleVersions: { net: '1.0.0' } };
  const changes = { 'create a': 1 };
  const confirmed = { units: [unit('app', changes, versions), unit('web')], parts: confirmedParts };
  const beyond = (units: PlannedUnit[], companions?: Record<string, string>) =>
    beyondConfirmed({ units, parts: { ...parts, ...(companions ? { companions } : {}) } }, confirmed);
  const same = [unit('app', changes, versions)];
  assert.deepEqual(beyond(same, { tofu: '1.12.6' }), []);
  const programs = ['the versions of the programs that the tool runs'];
  assert.deepEqual(beyond(same, { tofu: '1.12.7' }), programs);
  assert.deepEqual(beyond(same, { tofu: '1.12.6', terraform: '1.11.4' }), programs);
  assert.deepEqual(beyond(same), programs);
  const withVersions = (more: Partial<PlannedUnit>) =>
    beyond([unit('app', changes, { ...versions, ...more })], { tofu: '1.12.6' });
  assert.deepEqual(withVersions({ providerVersions: { aws: '6.0.0' } }), [
    'app: the version of aws (6.0.0, approved was 5.9.0)',
  ]);
  assert.deepEqual(withVersions({ providerVersions: { aws: '5.9.0', random: '3.0.0' } }), [
    'app: the version of random (3.0.0, new)',
  ]);
  assert.deepEqual(withVersions({ moduleVersions: { net: '1.1.0' } }), [
    'app: the version of net (1.1.0, approved was 1.0.0)',
  ]);
  assert.deepEqual(withVersions({ moduleVersions: {} }), []);
});
