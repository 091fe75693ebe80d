/** Secrets of API keys: 256 random bits, kept as an HMAC under a key that is not in the database. */
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey, type KeyRing } from './key-ring.ts';

export interface KeyHash {
  /** Stored form of a secret: id of the sealing key (4 bytes), HMAC-SHA256 (32). */
  hash(secret: string): Buffer;
  /** In constant time, and as long for `null` (no such key) as for a wrong secret. */
  matches(secret: string, stored: Buffer | null): boolean;
}

const idBytes = 4;

/** @param purpose hashes for one purpose never match those for another */
export function createKeyHash(ring: KeyRing, purpose = 'api keys'): KeyHash {
  const peppers = new Map(
    ring.keys.map((key) => [key.id.toString('hex'), createSecretKey(deriveKey(key, purpose))]),
  );
  const first = ring.keys[0].id;
  const hashUnder = (id: Buffer, secret: string): Buffer =>
    Buffer.concat([
      id,
      createHmac('sha256', peppers.get(id.toString('hex')) ?? randomBytes(32))
        .update(secret)
        .digest(),
    ]);
  return {
    hash: (secret) => hashUnder(first, secret),
    matches(secret, stored) {
      const expected = stored ?? Buffer.concat([first, randomBytes(32)]);
      const found = hashUnder(expected.subarray(0, idBytes), secret);
      return found.length === expected.length && timingSafeEqual(found, expected) && stored !== null;
    },
  };
}

/** A new secret: 256 random bits, in letters that need no escaping anywhere. */
export function newKeySecret(): string {
  return randomBytes(32).toString('base64url');
}
