import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lifetimeOf } from './lifetime.ts';

test('lifetimes are hours, days, weeks, times or infinite; anything else is refused with the flag', () => {
  assert.deepEqual(lifetimeOf('--ttl', '12h'), { type: 'HOURS', value: '12' });
  assert.deepEqual(lifetimeOf('--ttl', '3d'), { type: 'HOURS', value: '72' });
  assert.deepEqual(lifetimeOf('--ttl', '2w'), { type: 'HOURS', value: '336' });
  assert.deepEqual(lifetimeOf('--ttl', 'infinite'), { type: 'INFINITE' });
  assert.deepEqual(lifetimeOf('--ttl', '2026-12-24T18:00:00Z'), {
    type: 'DATE',
    value: '2026-12-24T18:00:00.000Z',
  });
  for (const wrong of ['', '0h', '12', '1 h', '-3d', 'tomorrow', '2026-99-99', '2026-12-24 (6pm)'])
    assert.throws(() => lifetimeOf('--ttl', wrong), /--ttl must be hours, days or weeks/);
});
