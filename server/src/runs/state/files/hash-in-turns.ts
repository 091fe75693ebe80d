/** Hashes large contents in pieces, so that others are served in between. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** MD5, the slowest, takes about ten milliseconds for it. */
const pieceBytes = 4 * 1024 * 1024;

/** The hash of some bytes. */
export async function hashInTurns(
  algorithm: 'sha256' | 'md5',
  bytes: Uint8Array,
  encoding: 'hex' | 'base64',
): Promise<string> {
  const hash = createHash(algorithm);
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    if (start > 0) await setImmediate();
    hash.update(bytes.subarray(start, start + pieceBytes));
  }
  return hash.digest(encoding);
}
