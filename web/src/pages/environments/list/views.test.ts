import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameView, SavedViews, withView } from './views.ts';

/** The views of a browser whose storage has this text. */
function savedIn(text: string | null): SavedViews {
  let kept = text;
  return new SavedViews({ getItem: () => kept, setItem: (_, next) => void (kept = next) });
}

test('foreign content of the storage is left out', () => {
  for (const text of [null, '', '{', '{}', '7']) assert.deepEqual(savedIn(text).of('key'), [], String(text));
  const text = JSON.stringify([
    { name: 'mine', filters: { status: 'FAILED', page: '4', other: 'x', tag: 7 } },
    { name: 7, filters: {} },
    null,
    { name: 'no filters' },
  ]);
  assert.deepEqual(savedIn(text).of('key'), [{ name: 'mine', filters: { status: 'FAILED' } }]);
});

test('views are read again from the storage, and only after another page has changed them', () => {
  const text = (name: string) => JSON.stringify([{ name, filters: {} }]);
  const storage = { kept: text('first'), getItem: () => storage.kept, setItem: () => undefined };
  const saved = new SavedViews(storage);
  const first = saved.of('key');
  storage.kept = text('second');
  assert.equal(saved.of('key'), first);
  let calls = 0;
  const unsubscribe = saved.onChange(() => (calls += 1));
  saved.reread('key');
  assert.deepEqual([calls, saved.of('key')[0]?.name], [1, 'second']);
  unsubscribe();
  saved.keep('key', first);
  assert.deepEqual([calls, saved.of('key')], [1, first]);
});

test('what is kept is there when the page is opened the next time', () => {
  let kept: string | null = null;
  const storage = { getItem: () => kept, setItem: (_: string, next: string) => void (kept = next) };
  const views = [{ name: 'mine', filters: { status: 'FAILED' } }] as const;
  new SavedViews(storage).keep('key', views);
  assert.deepEqual(new SavedViews(storage).of('key'), views);
});

test('a view of the same name is replaced, and the oldest make room', () => {
  const first = withView([], { name: ' a ', filters: { tag: 'x' } });
  assert.deepEqual(withView(first, { name: 'a', filters: {} }), [{ name: 'a', filters: {} }]);
  const many = Array.from({ length: 30 }, (_, at) => ({ name: `v${at}`, filters: {} }));
  assert.equal(withView(many, { name: 'new', filters: {} }).length, 30);
});

test('views are the same when all filters are', () => {
  assert.equal(isSameView({ status: 'FAILED' }, { status: 'FAILED' }), true);
  assert.equal(isSameView({}, { sort: 'name' }), false);
});
