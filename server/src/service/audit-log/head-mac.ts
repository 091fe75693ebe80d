/** Heads of chains are kept under an HMAC: an attacker who can only write to the database cannot shorten a chain. */
import type { KeyHash } from '../../ground/secrets/api-key-hash.ts';
import type { HeadRow } from '../../rows/audit-log/audit-link-store.ts';

type HeadContent = Pick<HeadRow, 'chain' | 'number' | 'hash'>;

/** The progress is not part of it: it changes constantly. */
function textOf({ chain, number, hash }: HeadContent): string {
  return `head\n${JSON.stringify([chain, number, hash.toString('hex')])}`;
}

export function headMac(mac: KeyHash, head: HeadContent): Buffer {
  return mac.hash(textOf(head));
}

export function isHead(mac: KeyHash, head: HeadRow): boolean {
  return mac.matches(textOf(head), head.mac);
}
