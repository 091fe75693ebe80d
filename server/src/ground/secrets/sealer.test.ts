import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createKeyHash, newKeySecret } from './api-key-hash.ts';
import type { KeyRing } from './key-ring.ts';
import { createSealer, SealError } from './sealer.ts';

function newRing(): KeyRing {
  return { file: '/keys', keys: [{ id: randomBytes(4), key: createSecretKey(randomBytes(32)) }] };
}
const place = { table: 'variable', row: '1', field: 'value' };
const sealer = createSealer(newRing());

async function* chunks(content: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
async function joined(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

test('a sealed value opens only in its place', () => {
  const sealed = sealer.seal('clear text', place);
  assert.ok(!sealed.includes('clear text'));
  assert.equal(sealer.open(sealed, place).toString(), 'clear text');
  assert.notDeepEqual(sealer.seal('clear text', place), sealed);
  for (const other of [
    { ...place, table: 'v' },
    { ...place, row: '2' },
    { ...place, field: 'other' },
  ]) {
    assert.throws(() => sealer.open(sealed, other), SealError);
  }
});

test('a value that was changed or truncated at any byte does not open', () => {
  const sealed = sealer.seal('x', place);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => sealer.open(changed, place), SealError);
    assert.throws(() => sealer.open(sealed.subarray(0, at), place), SealError);
  }
});

test('after a rotation the old key still opens and the new one seals; without it the refusal names its id', () => {
  const [older, newer] = [newRing(), newRing()];
  const sealed = createSealer(older).seal('kept', place);
  const rotated: KeyRing = { file: '/keys', keys: [newer.keys[0], older.keys[0]] };
  assert.equal(createSealer(rotated).open(sealed, place).toString(), 'kept');
  assert.equal(createSealer(newer).open(createSealer(rotated).seal('new', place), place).toString(), 'new');
  assert.throws(
    () => createSealer(newer).open(sealed, place),
    new RegExp(`key ${older.keys[0].id.toString('hex')} that sealed it is not in /keys`),
  );
});

test('streams of all awkward lengths survive sealing, however they are cut into chunks', async () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
    const content = randomBytes(length);
    for (const size of [777, 65_536, 1_000_000]) {
      const sealed = await joined(sealer.sealStream(chunks(content, size), place));
      assert.deepEqual(await joined(sealer.openStream(chunks(sealed, size), place)), content);
    }
  }
});

test('a stream with lost, swapped or changed frames, or sealed for another place, does not open', async () => {
  const frame = 65_536 + 16;
  const sealed = await joined(sealer.sealStream(chunks(randomBytes(3 * 65_536), 65_536), place));
  const head = sealed.subarray(0, 37);
  const frames = [0, 1, 2].map((number) => sealed.subarray(37 + number * frame, 37 + (number + 1) * frame));
  const [a, b, c] = frames as [Buffer, Buffer, Buffer];
  const changed = Buffer.from(sealed);
  changed[50] = (changed[50] ?? 0) ^ 1;
  const broken = [
    Buffer.concat([head, a, b]),
    Buffer.concat([head, b, a, c]),
    Buffer.concat([head, a, c]),
    Buffer.concat([sealed, c]),
    head,
    head.subarray(0, 9),
    changed,
    sealed.subarray(0, -1),
  ];
  for (const one of broken)
    await assert.rejects(joined(sealer.openStream(chunks(one, 9999), place)), SealError);
  await assert.rejects(joined(sealer.openStream(chunks(sealed, 9999), { ...place, row: '2' })), SealError);
});

test('a key secret matches only its own hash', () => {
  const ring = newRing();
  const keyHash = createKeyHash(ring);
  const secret = newKeySecret();
  assert.equal(Buffer.from(secret, 'base64url').length, 32);
  const stored = keyHash.hash(secret);
  assert.ok(!stored.includes(secret));
  assert.equal(keyHash.matches(secret, stored), true);
  assert.equal(keyHash.matches(`${secret}x`, stored), false);
  assert.equal(keyHash.matches('', stored), false);
  assert.equal(keyHash.matches(secret, null), false);
  assert.equal(createKeyHash(newRing()).matches(secret, stored), false);
  assert.equal(
    createKeyHash({ ...ring, keys: [newRing().keys[0], ring.keys[0]] }).matches(secret, stored),
    true,
  );
});
