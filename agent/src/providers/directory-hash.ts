/** The hash `h1:` of lock files: over the unpacked files of a package, whatever their order and modes. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** @returns `h1:` and the hash of all files below a folder, by their relative names and contents */
export async function directoryHash(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const whole = createHash('sha256');
  // By bytes, as the tools sort.
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
