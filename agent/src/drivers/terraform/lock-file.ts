/**
 * The parts of the lock file of terraform and OpenTofu that the cache needs: its packages and their hashes.
 */

/** At the root of a configuration, next to its code. */
export const lockFileName = '.terraform.lock.hcl';

export interface LockedProvider {
  /** `host/namespace/type`. */
  readonly source: string;
  readonly version: string;
  readonly hashes: readonly string[];
}

/** In characters: ten times the size for a hundred providers. */
const longest = 2_000_000;
// Reads each line once, however many blocks are left open: the file may be hostile.
const block = /^provider "([^"\n]+)" \{\n((?:(?!\}|provider ).*\n)*)\}/gm;
const hashList = /^([ \t]*hashes[ \t]*=[ \t]*)\[([^[\]]*)\]/m;

/** @returns the providers of a lock file; none if the text is not a lock file */
export function readLockFile(text: string): LockedProvider[] {
  if (text.length > longest) return [];
  return [...text.matchAll(block)].map(([, source = '', body = '']) => ({
    source,
    version: /^[ \t]*version[ \t]*=[ \t]*"([^"\n]+)"/m.exec(body)?.[1] ?? '',
    hashes: hashesIn(body),
  }));
}

function hashesIn(body: string): string[] {
  const list = hashList.exec(body)?.[2] ?? '';
  return [...list.matchAll(/"((?:h1|zh):[^"\n]+)"/g)].map(([, hash = '']) => hash);
}

/**
 * Adds hashes of packages that the lock file already vouches for, as a tool does when it installs them from
 * their registry.
 * @param verified returns the known hashes of a locked provider; null if there are none
 * @returns the new text; null if there is nothing to add
 */
export function completeLockFile(
  text: string,
  verified: (locked: LockedProvider) => readonly string[] | null,
): string | null {
  if (text.length > longest) return null;
  const completed = text.replaceAll(block, (whole, source: string, body: string) => {
    const [locked] = readLockFile(whole);
    const hashes = locked && verified(locked);
    if (!locked || !hashes || !hashes.some((hash) => locked.hashes.includes(hash))) return whole;
    const all = [...new Set([...locked.hashes, ...hashes])].sort();
    if (all.length === locked.hashes.length) return whole;
    const list = all.map((hash) => `    "${hash}",\n`).join('');
    return `provider "${source}" {\n${body.replace(hashList, (_, before: string) => `${before}[\n${list}  ]`)}}`;
  });
  return completed === text ? null : completed;
}
