import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Visits } from './visits.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const minute = 60_000;
const week = 7 * 86_400_000;

/** @returns what opens a page of a browser whose storage has this text, and the clock */
function browser(t: TestContext, text: string | null = null) {
  let kept = text;
  t.mock.timers.enable({ apis: ['Date'], now });
  const storage = { getItem: () => kept, setItem: (_: string, next: string) => void (kept = next) };
  return {
    open: () => new Visits(storage),
    at: (time: number) => t.mock.timers.setTime(time),
  };
}

test('on the first visit the last week is new', (t) => {
  const { open, at } = browser(t);
  assert.equal(open().since('key'), now - week);
  at(now + minute);
  assert.equal(open().since('key'), now - week);
});

test('events since the last visit are new for the whole visit', (t) => {
  const { open, at } = browser(t, JSON.stringify({ since: now - 5000, seen: now }));
  const away = now + 30 * minute;
  at(away + 1);
  const page = open();
  assert.equal(page.since('key'), now);
  at(away + 20 * minute);
  page.continue();
  assert.equal(page.since('key'), now);
  at(away + 40 * minute);
  assert.equal(open().since('key'), now);
});

test('a visit continues after a short break', (t) => {
  const { open, at } = browser(t, JSON.stringify({ since: now - 5000, seen: now }));
  at(now + 30 * minute);
  assert.equal(open().since('key'), now - 5000);
});

test('nothing is new once all was seen', (t) => {
  const { open, at } = browser(t);
  const page = open();
  page.since('key');
  at(now + minute);
  let calls = 0;
  const unsubscribe = page.onSeen(() => (calls += 1));
  page.markSeen('key');
  unsubscribe();
  page.markSeen('key');
  assert.deepEqual([calls, page.since('key'), open().since('key')], [1, now + minute, now + minute]);
});

test('foreign text in the storage is ignored', (t) => {
  for (const text of [null, '', '{', '7', 'null', '{"since":"yesterday","seen":1}']) {
    assert.equal(browser(t, text).open().since('key'), now - week, String(text));
    t.mock.timers.reset();
  }
  assert.equal(browser(t, '{"since":1,"seen":2}').open().since('key'), 2);
});
