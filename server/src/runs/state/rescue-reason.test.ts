import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rescueReason, type ShippedFacts } from './rescue-reason.ts';

const current = { id: 'v1', serial: 5, lineage: 'l' };
const good: ShippedFacts = {
  isOfPlan: false,
  isNewestAttempt: true,
  hasMark: true,
  isNewerAttemptMarked: false,
  isHeld: false,
  isOfOtherEnvironment: false,
  state: { serial: 6, lineage: 'l' },
  follows: 'v1',
  current,
};

test('a state becomes current only if it follows the current one in lineage and serial', () => {
  const is = (state: ShippedFacts['state'], follows: string, now: ShippedFacts['current']) =>
    rescueReason({ ...good, state, follows, current: now }) === null;
  assert.ok(is({ serial: 0, lineage: 'x' }, '', null));
  assert.ok(is({ serial: 5, lineage: 'l' }, 'v1', current));
  assert.ok(!is({ serial: 4, lineage: 'l' }, 'v1', current));
  assert.ok(!is({ serial: 6, lineage: 'other' }, 'v1', current));
  fc.assert(
    fc.property(fc.constantFrom('', 'v0', 'v2'), fc.nat(20), (follows, serial) => {
      assert.ok(!is({ serial, lineage: 'l' }, follows, current));
      if (follows) assert.ok(!is({ serial, lineage: 'l' }, follows, null));
    }),
  );
});

test('each condition alone keeps a state from becoming current', () => {
  assert.equal(rescueReason(good), null);
  const moved = { isOfPlan: true, hasMark: false, follows: '', current: null } as const;
  assert.equal(rescueReason({ ...good, ...moved }), null);
  const reasons = [
    [{ isOfOtherEnvironment: true }, 'lineageOfOtherEnvironment'],
    [{ ...moved, isOfOtherEnvironment: true }, 'lineageOfOtherEnvironment'],
    [{ isOfPlan: true }, 'planOfEnvironmentWithState'],
    [{ ...moved, isNewestAttempt: false }, 'attemptReplaced'],
    [{ hasMark: false }, 'attemptWithoutMark'],
    [{ isNewerAttemptMarked: true }, 'newerAttemptMarked'],
    [{ follows: 'v0' }, 'notBasedOnCurrent'],
    [{ isHeld: true }, 'stateHeld'],
  ] as const;
  for (const [facts, reason] of reasons) assert.equal(rescueReason({ ...good, ...facts }), reason);
});
