import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameView, viewsFrom, withView } from './views.ts';

test('foreign content of the storage is left out', () => {
  for (const text of [null, '', '{', '{}', '7']) assert.deepEqual(viewsFrom(text), [], String(text));
  const text = JSON.stringify([
    { name: 'mine', filters: { status: 'FAILED', page: '4', other: 'x', tag: 7 } },
    { name: 7, filters: {} },
    null,
    { name: 'no filters' },
  ]);
  assert.deepEqual(viewsFrom(text), [{ name: 'mine', filters: { status: 'FAILED' } }]);
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
