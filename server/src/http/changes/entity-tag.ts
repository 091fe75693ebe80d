/** Versions of replies (`ETag`): a caller that has the current one receives 304 and no body (RFC 9110, 13.1.2). */
import { hash } from 'node:crypto';

/** Weak: the same reply has one tag, compressed or not. */
export function entityTag(reply: Buffer): string {
  return `W/"${hash('sha1', reply, 'base64url')}"`;
}

/** @param header `If-None-Match`: `*` or a list of tags. @returns whether it has the tag */
export function hasVersion(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = (text: string) => text.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((each) => opaque(each) === opaque(tag));
}
