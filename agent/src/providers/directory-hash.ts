/** The hash `h1:` of lock files: over a package's unpacked files, whatever their order and modes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** @returns `h1:` and the hash of the relative names and contents of all files below a folder */
export async function directoryHash(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const whole = createHash('sha256');
  // Sorted by bytes, as in the tools.
  for (const name of names.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))) {
    whole.update(`${await fileHash(join(folder, name))}  ${name}\n`);
  }
  return `h1:${whole.digest('base64')}`;
}

async function fileHash(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
