import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestsOf, excerptOf } from './state-excerpt.ts';

const file = (values: object, outputs: object, indent?: number) => {
  const instances = Object.entries(values).map(([index_key, v]) => ({ index_key, attributes: { v } }));
  const resource = { mode: 'managed', type: 't', name: 'n', instances };
  return Buffer.from(JSON.stringify({ version: 4, resources: [resource], outputs }, null, indent));
};

test('of a state, only a copy of what the other one has not or differently is kept', () => {
  const rest = 'x'.repeat(1000);
  const before = file({ same: rest, other: 2, gone: 3 }, { one: { value: 1 }, two: { value: 2 } });
  const after = file({ new: 4, same: rest, other: 5 }, { one: { value: 1 }, two: { value: 3 } });
  const { instances, outputs, isCopied } = excerptOf(after, digestsOf(before));
  assert.ok(isCopied);
  after.fill(0);
  assert.deepEqual(
    [...instances].map(([address, kept]) => [address, kept?.contentOf(kept.bytes).attributes]),
    [
      ['t.n["new"]', { v: 4 }],
      ['t.n["same"]', undefined],
      ['t.n["other"]', { v: 5 }],
    ],
  );
  assert.deepEqual(
    [...outputs].map(([name, bytes]) => [name, bytes && Buffer.from(bytes).toString()]),
    [
      ['one', null],
      ['two', '{"value":3}'],
    ],
  );
  assert.equal(excerptOf(before, digestsOf(file({}, {}))).isCopied, false);
});

test('how a state is formatted makes no difference, and spaces in its strings do', () => {
  const values = { a: 'one "two"\\', b: ['x y', 1.5, { c: '\\" z' }], '': '{ "k" : 1 }' };
  const outputs = { o: { value: 'p q' } };
  const [before, after] = [file(values, outputs), file(values, outputs, 2)];
  const kept = (state: Buffer) => {
    const { instances, outputs } = excerptOf(state, digestsOf(before));
    return [...instances, ...outputs].flatMap(([name, each]) => (each === null ? [] : [name]));
  };
  assert.deepEqual(kept(after), []);
  assert.deepEqual(kept(file({ ...values, a: 'one "two" \\', '': '{"k":1}' }, outputs)), [
    't.n["a"]',
    't.n[""]',
  ]);
  assert.deepEqual(kept(file(values, { o: { value: 'pq' } })), ['o']);
});
