/** Keys of the audit trail, from the installation's key: proof of the author of an entry, and names for secrets. */
import { createHmac } from 'node:crypto';
import { createKeyHash, type KeyHash } from './api-key-hash.ts';
import { deriveKey, type KeyRing } from './key-ring.ts';

export interface AuditKeys {
  /** HMAC of a text, which only holders of the installation's key can make. */
  readonly mac: KeyHash;
  /**
   * A name for a secret: the same for the same value in the same place, and of no use to anyone who guesses values.
   * @param place within which values may be compared
   */
  fingerprint(place: string, value: string): string;
}

export function createAuditKeys(ring: KeyRing): AuditKeys {
  const [first] = ring.keys;
  const key = deriveKey(first, 'audit fingerprints');
  return {
    mac: createKeyHash(ring, 'audit trail'),
    fingerprint(place, value) {
      const digest = createHmac('sha256', key)
        .update(JSON.stringify([place, value]))
        .digest('hex');
      return `hmac:${first.id.toString('hex')}:${digest.slice(0, 32)}`;
    },
  };
}
