/** Names of counts, the same on all servers of an installation. */
import type { KeyHash } from '../secrets/api-key-hash.ts';

/**
 * The name of a count: short, whatever is counted, and without a trace of addresses, paths and secrets in a store
 * that others may read.
 */
export function countName(keyHash: KeyHash, parts: readonly string[]): string {
  return keyHash.hash(JSON.stringify(parts)).toString('base64url', 4, 22);
}
