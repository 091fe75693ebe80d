import assert from 'node:assert/strict';
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { KeyRing } from '../../ground/secrets/key-ring.ts';
import { createSealer } from '../../ground/secrets/sealer.ts';
import { openValue } from '../../rows/variables/variable-store.ts';

const ring: KeyRing = {
  file: '/keys',
  keys: [{ id: randomBytes(4), key: createSecretKey(randomBytes(32)) }],
};
const sealer = createSealer(ring);
const id = randomUUID();
const sealed = (value: string) => sealer.seal(value, { table: 'variable', row: id, field: 'sealed_value' });

function counted() {
  const calls = { opened: 0 };
  const counting = {
    ...sealer,
    open: (...input: Parameters<typeof sealer.open>) => {
      calls.opened++;
      return sealer.open(...input);
    },
  };
  return { calls, context: { sealer: counting } };
}

test('a value that is not sensitive is opened once, until it changes', () => {
  const { calls, context } = counted();
  const [first, second] = [sealed('first'), sealed('second')];
  for (const [sealed_value, value] of [
    [first, 'first'],
    [Buffer.from(first), 'first'],
    [second, 'second'],
    [second, 'second'],
  ] as const)
    assert.equal(openValue(context, { id, sealed_value, is_sensitive: false }), value);
  assert.equal(calls.opened, 2);
});

test('sensitive and long values do not stay in memory', () => {
  const { calls, context } = counted();
  const secret = { id, sealed_value: sealed('planted-secret'), is_sensitive: true };
  const long = { id, sealed_value: sealed('x'.repeat(5000)), is_sensitive: false };
  for (const row of [secret, long]) for (let times = 0; times < 2; times++) openValue(context, row);
  assert.equal(calls.opened, 4);
  assert.equal(openValue(context, { id, sealed_value: null, is_sensitive: false }), null);
});
