import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeptText, KeptTexts } from './json-text.ts';

const textOf = (version: string, length: number): KeptText => ({
  version,
  text: 'x'.repeat(length),
});

test('a text is found only in its version', () => {
  const kept = new KeptTexts(1000);
  kept.keep('a', textOf('1', 10));
  assert.equal(kept.find('a', '1')?.text.length, 10);
  assert.equal(kept.find('a', '2'), undefined);
  kept.keep('a', textOf('2', 20));
  assert.equal(kept.find('a', '1'), undefined);
  assert.equal(kept.find('a', '2')?.text.length, 20);
  kept.forget('a');
  assert.equal(kept.find('a', '2'), undefined);
});

test('texts that were not used for longest make room for new ones', () => {
  const kept = new KeptTexts(1000);
  for (let index = 0; index < 25; index++) kept.keep(String(index), textOf('1', 40));
  assert.ok(kept.find('0', '1'), 'all of them have room');
  kept.keep('new', textOf('1', 50));
  assert.deepEqual(
    ['0', '1', '2', '3', 'new'].map((key) => kept.find(key, '1') !== undefined),
    [true, false, false, true, true],
  );
  for (let round = 0; round < 100; round++) kept.keep('3', textOf(String(round), 50));
  assert.ok(kept.find('0', '1'), 'a text that is kept again takes its room once');
});

test('a text that would take the room of many others is not kept, nor is its older version', () => {
  const kept = new KeptTexts(1000);
  kept.keep('a', textOf('1', 10));
  kept.keep('a', textOf('2', 51));
  assert.deepEqual([kept.find('a', '1'), kept.find('a', '2')], [undefined, undefined]);
});
