import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitsAt, visitsFrom } from './visits.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

test('on the first visit the last week is new', () => {
  assert.deepEqual(visitsAt(undefined, now), { since: now - 7 * 86_400_000, seen: now });
});

test('events since the last visit are new for the whole visit', () => {
  const away = now + 30 * 60_000 + 1;
  const again = visitsAt({ since: now - 5000, seen: now }, away);
  assert.deepEqual(again, { since: now, seen: away });
  assert.deepEqual(visitsAt(again, away + 60_000), { since: now, seen: away + 60_000 });
});

test('foreign text in the storage is ignored', () => {
  for (const text of [null, '', '{', '7', 'null', '{"since":"yesterday","seen":1}'])
    assert.equal(visitsFrom(text), undefined, String(text));
  assert.deepEqual(visitsFrom('{"since":1,"seen":2}'), { since: 1, seen: 2 });
});
