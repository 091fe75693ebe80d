/** Unpacks a provider's package: only plain files below one folder. */
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, open, type ZipFile } from 'yauzl';

const largestBytes = 16 * 1024 ** 3;
const fileTypeMask = 0o170000;
const plainFile = 0o100000;

/**
 * @param folder an empty folder
 * @throws an Error that describes the problem: not a zip file, a link, a name that leads out of the folder,
 * too large
 */
export async function unpackZip(file: string, folder: string): Promise<void> {
  const zip = await openZip(file);
  let size = 0;
  try {
    for await (const entry of entriesOf(zip)) {
      size += entry.uncompressedSize;
      if (size > largestBytes) throw new Error(`it unpacks to more than ${largestBytes} bytes`);
      checkEntry(entry);
      if (entry.fileName.endsWith('/')) continue;
      const target = join(folder, entry.fileName);
      await mkdir(dirname(target), { recursive: true, mode: 0o755 });
      const isProgram =
        ((entry.externalFileAttributes >>> 16) & 0o111) !== 0 ||
        entry.fileName.startsWith('terraform-provider-');
      await pipeline(
        await contentOf(zip, entry),
        createWriteStream(target, { mode: isProgram ? 0o755 : 0o644, flags: 'wx', flush: true }),
      );
    }
  } finally {
    zip.close();
  }
}

function checkEntry({ fileName, externalFileAttributes }: Entry): void {
  if (fileName.startsWith('/') || fileName.includes('\\') || fileName.split('/').includes('..'))
    throw new Error(`it contains ${JSON.stringify(fileName)}, which leads out of its folder`);
  const type = (externalFileAttributes >>> 16) & fileTypeMask;
  if (type !== 0 && type !== plainFile && !fileName.endsWith('/'))
    throw new Error(`it contains ${JSON.stringify(fileName)}, which is a link or device, not a plain file`);
}

function openZip(file: string): Promise<ZipFile> {
  return new Promise((resolve, reject) =>
    open(file, { lazyEntries: true, autoClose: false }, (error, zip) =>
      error || !zip ? reject(new Error(`it is not a readable zip file (${error?.message})`)) : resolve(zip),
    ),
  );
}

async function* entriesOf(zip: ZipFile): AsyncIterable<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | null>((resolve, reject) => {
      const done = (value: Entry | null) => {
        zip.removeAllListeners();
        resolve(value);
      };
      zip.once('entry', done);
      zip.once('end', () => done(null));
      zip.once('error', reject);
      zip.readEntry();
    });
    if (entry === null) return;
    yield entry;
  }
}

function contentOf(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) =>
      error || !stream ? reject(error ?? new Error('no content')) : resolve(stream),
    ),
  );
}
