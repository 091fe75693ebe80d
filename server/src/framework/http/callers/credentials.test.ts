import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCredentials } from './credentials.ts';

const encode = (text: string) => Buffer.from(text).toString('base64');

test('id and secret survive encoding, and a secret may contain colons', () => {
  const id = fc
    .string({ minLength: 1, unit: 'binary' })
    .filter((text) => !/[:\0]/.test(text) && text.isWellFormed());
  const secret = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed());
  fc.assert(
    fc.property(id, secret, fc.constantFrom('Basic', 'basic', 'Bearer'), (key, password, scheme) => {
      assert.deepEqual(readCredentials(`${scheme} ${encode(`${key}:${password}`)}`), {
        id: key,
        secret: password,
      });
    }),
  );
});

test('a header without an id, without a colon or of another scheme has no credentials', () => {
  for (const header of [
    undefined,
    '',
    'Basic',
    'Basic ',
    `Basic ${encode('id')}`,
    `Basic ${encode(':secret')}`,
    `Digest ${encode('a:b')}`,
    `Basic ${encode('a\0:b')}`,
  ]) {
    assert.equal(readCredentials(header), null, String(header));
  }
});
