import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { hashInTurns } from './hash-in-turns.ts';

test('others are served while a large content is hashed', async () => {
  for (const [algorithm, encoding] of [
    ['sha256', 'hex'],
    ['md5', 'base64'],
  ] as const) {
    const bytes = Buffer.alloc(41 * 1024 * 1024, algorithm);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    assert.equal(await hashInTurns(algorithm, bytes, encoding), hash(algorithm, bytes, encoding));
    isDone = true;
    assert.ok(turns >= 10, `${algorithm}: ${turns} turns`);
    assert.equal(await hashInTurns(algorithm, Buffer.alloc(0), encoding), hash(algorithm, '', encoding));
  }
});
