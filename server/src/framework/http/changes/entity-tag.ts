/** Versions of replies (`ETag`), and the conditions that requests make of them (RFC 9110, 8.8.3 and 13.1). */
import { hash } from 'node:crypto';
import { Refusal } from '../../../ground/errors.ts';

/** Strong: the same tag means the same bytes. */
export function entityTag(reply: Buffer): string {
  return `"${hash('sha1', reply, 'base64url')}"`;
}

/** The tag of the same reply in a content coding: other bytes, another tag. */
export function codedTag(tag: string, coding: string): string {
  return tag.replace(/^(".*)"$/, `$1-${coding}"`);
}

/** A tag as a caller sends it. */
interface Tag {
  /** As it was sent. */
  readonly text: string;
  readonly isWeak: boolean;
  /** Identifier of the version, independent of the coding. */
  readonly opaque: string;
}

const listedTag = /\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/y;

/** Tags of ours have 27 characters; what follows is the coding that the reply was sent in. */
function uncoded(opaque: string): string {
  return opaque.replace(/^([\w-]{27})-(gzip|deflate|br|zstd)$/, '$1');
}

/** @returns the tags of a list; null where it is not one */
function tagsOf(header: string): Tag[] | null {
  const tags: Tag[] = [];
  // Elements of a list may be empty.
  const text = header.replace(/^[\s,]+/, '');
  listedTag.lastIndex = 0;
  while (listedTag.lastIndex < text.length) {
    const match = listedTag.exec(text);
    if (!match) return null;
    tags.push({
      text: match[0].replace(/,$/, '').trim(),
      isWeak: match[1] !== undefined,
      opaque: uncoded(match[2] ?? ''),
    });
    while (/[\s,]/.test(text[listedTag.lastIndex] ?? '')) listedTag.lastIndex++;
  }
  return tags.length > 0 ? tags : null;
}

function isSame(tag: string, each: Tag): boolean {
  return tag === `"${each.opaque}"`;
}

/**
 * `If-None-Match`: the caller has this version already. Weak tags count, because they say enough for that.
 * @param header `*` or a list of tags
 * @returns the tag that it has, as it was sent; null where it has none
 */
export function versionHeld(header: string | undefined, tag: string): string | null {
  if (header === undefined) return null;
  if (header.trim() === '*') return tag;
  return tagsOf(header)?.find((each) => isSame(tag, each))?.text ?? null;
}

/**
 * `If-Match`: refuses a request that is about another version. Weak tags match nothing.
 * @param header `*` or a list of tags
 * @param tag of the present version
 * @throws Refusal 412 where none of them is the present version, 400 for a malformed header
 */
export function requireMatch(header: string, tag: string): void {
  if (header.trim() === '*') return;
  const tags = tagsOf(header);
  if (tags === null)
    throw new Refusal(
      'bad_request',
      'The header If-Match must be * or a list of tags in quotation marks, as the header ETag has them',
    );
  const strong = tags.filter(({ isWeak }) => !isWeak);
  if (strong.some((each) => isSame(tag, each))) return;
  if (strong.length === 0)
    throw new Refusal(
      'precondition_failed',
      'The header If-Match has only weak tags (W/), which match nothing: send the ETag of the service; a proxy that compresses replies weakens it',
    );
  throw new Refusal(
    'precondition_failed',
    'This is no longer in the version of the header If-Match: read it again, and apply the change to what it is now',
  );
}
