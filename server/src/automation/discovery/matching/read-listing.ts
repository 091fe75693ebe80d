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

/** More than people write, and less than an index of the database can hold. */
const longestPathBytes = 1024;

function pathOf(bytes: Buffer): Pick<ListedEntry, 'path' | 'pathProblem'> {
  if (bytes.length > longestPathBytes) {
    const [start, end] = [bytes.toString('latin1', 0, 100), bytes.toString('latin1', bytes.length - 100)];
    return {
      path: escaped(`${start}...${end}`, /[\u0000-\u001F\u007F-\u00FF]/g),
      pathProblem: `its path has more than ${longestPathBytes} bytes`,
    };
  }
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

const unreadable = 'git printed a listing that cannot be read';

/** @throws Error for anything else than a line of a listing */
function entryOf(line: Buffer): ListedEntry {
  const split = line.indexOf(tab);
  if (split < 0 || line[6] !== space) throw new Error(unreadable);
  const [, mode, type, id] = lineOfListing.exec(line.toString('latin1', 0, split)) ?? [];
  if (mode === undefined || type === undefined || id === undefined) throw new Error(unreadable);
  return { kind: kindOf(mode, type), id, ...pathOf(line.subarray(split + 1)) };
}

/**
 * @param pieces of the listing, divided anywhere
 * @throws Error for anything else than a listing
 */
export function* entriesOf(pieces: Iterable<Uint8Array>): Generator<ListedEntry> {
  let begun = Buffer.alloc(0);
  for (const piece of pieces) {
    const next = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const bytes = begun.length === 0 ? next : Buffer.concat([begun, next]);
    let at = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, at)) {
      yield entryOf(bytes.subarray(at, end));
      at = end + 1;
    }
    begun = Buffer.from(bytes.subarray(at));
  }
  if (begun.length > 0) throw new Error(unreadable);
}
