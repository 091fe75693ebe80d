/** Heads of chains are kept under an HMAC: whoever can only write to the database cannot shorten a chain. */
import type { KeyHash } from '../../ground/secrets/api-key-hash.ts';
import type { HeadRow } from '../../rows/audit-log/audit-link-store.ts';

type HeadContent = Pick<HeadRow, 'chain' | 'number' | 'hash' | 'progress'>;

/** How far a chain tolerates entries without an HMAC is part of it; the rest of the progress changes constantly. */
function textOf({ chain, number, hash, progress }: HeadContent): string {
  const withoutMacUpTo = progress?.withoutMacUpTo ?? 0;
  return `head\n${JSON.stringify([chain, number, hash.toString('hex'), withoutMacUpTo])}`;
}

export function headMac(mac: KeyHash, head: HeadContent): Buffer {
  return mac.hash(textOf(head));
}

export function isHead(mac: KeyHash, head: HeadRow): boolean {
  return mac.matches(textOf(head), head.mac);
}
