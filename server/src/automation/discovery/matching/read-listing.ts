/** Reads what `git ls-tree -r -t -z` prints. */

export interface ListedEntry {
  readonly kind: 'file' | 'link' | 'submodule' | 'tree';
  readonly path: string;
  /** Of the blob, tree or commit. */
  readonly id: string;
  /** Why the path cannot be used; undefined for all others. The path is then written with escapes. */
  readonly pathProblem?: string;
}

const [tab, space] = [9, 32];
const lineOfListing = /^(\d{6}) (\w+) ([0-9a-f]{40,64})$/;

function kindOf(mode: string, type: string): ListedEntry['kind'] {
  if (type === 'tree') return 'tree';
  if (type === 'commit') return 'submodule';
  return mode === '120000' ? 'link' : 'file';
}

/** Text in which characters that match are written as escapes, and so are quotes and backslashes. */
function escaped(text: string, characters: RegExp): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(characters, (each) => `\\x${each.charCodeAt(0).toString(16)}`);
}

function pathOf(bytes: Buffer): Pick<ListedEntry, 'path' | 'pathProblem'> {
  const path = bytes.toString('utf8');
  if (path.includes('\uFFFD') && !Buffer.from(path).equals(bytes))
    return {
      path: escaped(bytes.toString('latin1'), /[\u007F-\u00FF]/g),
      pathProblem: 'its path is not valid UTF-8',
    };
  if (/\p{Cc}/u.test(path))
    return {
      path: escaped(path, /\p{Cc}/gu),
      pathProblem: 'its path contains line breaks or other control characters',
    };
  return { path };
}

/** @throws Error for anything else */
export function* entriesOf(listing: Uint8Array): Generator<ListedEntry> {
  const bytes = Buffer.from(listing.buffer, listing.byteOffset, listing.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const split = bytes.indexOf(tab, at);
    if (end < 0 || split < 0 || split > end || bytes[at + 6] !== space)
      throw new Error('git printed a listing that cannot be read');
    const [, mode, type, id] = lineOfListing.exec(bytes.toString('latin1', at, split)) ?? [];
    if (mode === undefined || type === undefined || id === undefined)
      throw new Error('git printed a listing that cannot be read');
    yield { kind: kindOf(mode, type), id, ...pathOf(bytes.subarray(split + 1, end)) };
    at = end + 1;
  }
}
