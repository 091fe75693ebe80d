import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeWords } from './drift/causes.ts';
import {
  latestEnd,
  lifetimeBody,
  lifetimeProblem,
  lifetimeValues,
  policyWords,
} from './schedule/lifetime.ts';
import { conflicts, mergedWith, settingsBody, settingsOf } from './settings/settings-values.ts';
import { sizeText } from './state/words.ts';

const began = settingsOf({ name: 'web', tags: ['a'], requiresApproval: true } as never);

test('only changed settings are sent', () => {
  assert.deepEqual(settingsBody(began, { ...began, name: 'shop' }), { name: 'shop' });
  assert.deepEqual(settingsBody(began, { ...began, tags: ['a'] }), {});
});

test('two people conflict only where both changed the same setting to different values', () => {
  const mine = { ...began, name: 'shop' };
  assert.deepEqual(conflicts(began, mine, { ...began, description: 'theirs' }), []);
  assert.deepEqual(conflicts(began, mine, { ...began, name: 'store' }), ['name']);
  assert.deepEqual(conflicts(began, mine, { ...began, name: 'shop' }), []);
});

test('what only the other person has changed stays when theirs is replaced', () => {
  const theirs = { ...began, name: 'store', description: 'new' };
  const merged = mergedWith(theirs, began, { ...began, name: 'shop' });
  assert.deepEqual([merged.name, merged.description], ['shop', 'new']);
});

test('a lifetime is sent as it was entered', () => {
  assert.deepEqual(lifetimeBody({ kind: 'hours', hours: ' 12 ', date: '' }), { type: 'HOURS', value: '12' });
  assert.deepEqual(lifetimeBody({ kind: 'infinite', hours: '', date: '' }), { type: 'INFINITE' });
  const end = '2030-01-31T12:30:00.000Z';
  assert.deepEqual(lifetimeBody(lifetimeValues(end)), { type: 'DATE', value: end });
});

test('a lifetime that the service refuses is refused', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  assert.ok(lifetimeProblem({ kind: 'hours', hours: '0', date: '' }, now));
  assert.ok(lifetimeProblem({ kind: 'date', hours: '', date: '2029-12-30T12:00' }, now));
  assert.ok(lifetimeProblem({ kind: 'date', hours: '', date: '' }, now));
  assert.equal(lifetimeProblem({ kind: 'date', hours: '', date: '2030-01-03T12:00' }, now), undefined);
});

test('the limit of the policy counts from the creation; a month ends in a shorter one', () => {
  assert.equal(policyWords('2-w'), '2 weeks');
  assert.equal(policyWords('1-h'), '1 hour');
  assert.equal(policyWords(null), undefined);
  assert.equal(latestEnd('3-d', '2030-01-01T00:00:00Z')?.toISOString(), '2030-01-04T00:00:00.000Z');
  assert.equal(latestEnd('1-M', '2030-01-31T10:00:00Z')?.toISOString(), '2030-02-28T10:00:00.000Z');
});

const change = (driftByCloud?: boolean) => ({ action: 'update', driftByCloud }) as never;

test('the cause of a drift is the cloud, the code, or both', () => {
  const commit = { userEmail: 'a', timestamp: '', commitHash: 'x' };
  const words = (changes: never[], commits: number) =>
    causeWords({
      plan: { resourceChanges: changes, outputChanges: [] },
      driftCause: { unappliedCommits: Array.from({ length: commits }, () => commit) },
    });
  assert.match(words([change(true)], 0), /^1 resource was changed outside/);
  assert.match(words([change()], 2), /^The code has 2 commits/);
  assert.match(
    words([change(true), change(true), change()], 1),
    /^2 resources were .* and the code has 1 commit/,
  );
  assert.match(words([change()], 0), /would change 1 resource now/);
  assert.equal(words([], 0), 'Only outputs differ.');
});

test('sizes have the unit that fits', () => {
  assert.deepEqual([0, 999, 1200, 2_500_000].map(sizeText), ['0 B', '999 B', '1.2 KB', '2.5 MB']);
});
