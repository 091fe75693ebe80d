import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersOf, isoOf, localTimeOf, wordsOf } from './audit-query.ts';

test('filters come from the address; other parameters and unreadable times are left out', () => {
  const search = {
    action: 'team.created',
    from: 'yesterday',
    to: '2026-03-01T12:00:00.000Z',
    open: 'x',
    entity: '',
  };
  assert.deepEqual(filtersOf(search), { action: 'team.created', to: '2026-03-01T12:00:00.000Z' });
});

test('a time goes through the field of the browser and comes back the same', () => {
  const iso = '2026-03-01T12:34:00.000Z';
  assert.equal(isoOf(localTimeOf(iso)), iso);
  assert.equal(localTimeOf(undefined), '');
  assert.equal(isoOf(''), undefined);
});

test('the same filters are options of the command line', () => {
  assert.deepEqual(wordsOf({ actorId: 'ada', action: 'team.created' }), [
    '--actor',
    'ada',
    '--action',
    'team.created',
  ]);
});
