/** Several files as one, for a plan that is a folder: the same files are always the same bytes. */

/** The paths and sizes of the files, in the order of their contents; a line of JSON before these. */
interface PackIndex {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

const newline = 0x0a;

/** @param files by their paths below a folder */
export function packFiles(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const sorted = [...files].sort(([left], [right]) => (left < right ? -1 : 1));
  const index: PackIndex = { files: sorted.map(([path, { length: bytes }]) => ({ path, bytes })) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...sorted.map(([, content]) => content)]);
}

/** @throws Error if the bytes are damaged, or a path leaves its folder */
export function unpackFiles(packed: Uint8Array): Map<string, Uint8Array> {
  const end = packed.indexOf(newline);
  if (end === -1) throw new Error('the packed plan has no index');
  const { files } = JSON.parse(new TextDecoder().decode(packed.subarray(0, end))) as PackIndex;
  const found = new Map<string, Uint8Array>();
  let at = end + 1;
  for (const { path, bytes } of files) {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..'))
      throw new Error(`the packed plan has a file ${JSON.stringify(path)} outside of its folder`);
    found.set(path, packed.subarray(at, at + bytes));
    at += bytes;
  }
  if (at !== packed.length) throw new Error('the packed plan does not have the length that its index says');
  return found;
}
