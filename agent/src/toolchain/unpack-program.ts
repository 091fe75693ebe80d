/** Unpacks the programs of what a publisher provides. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Entry, openPromise } from 'yauzl';
import type { Archive } from '#protocol/tools/programs/program.ts';
import { readArchive } from '../runner/code/archive-entries.ts';

/** No program that runs here is larger, nor is an archive of one. */
const largestBytes = 2 ** 30;
/** Archives of programs contain a licence and a manual, not thousands of files. */
const maxEntries = 1000;

interface WrittenProgram {
  /** In lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface UnpackedPrograms extends WrittenProgram {
  /** The other programs, by the names of their files; absent: there are none. */
  readonly others?: Readonly<Record<string, WrittenProgram>>;
}

/**
 * Writes the program and the others that are wanted, and nothing else, to new files that all users may read and
 * execute, and makes them durable.
 * @param fetched path of what was fetched
 * @param archive its format, and the paths of the programs in it
 * @param file the program; the others come next to it
 * @param limitBytes of each program and of the unpacked archive, for tests
 * @returns SHA-256 and size of the program, and of the others
 * @throws Error that says what is wrong with the archive
 */
export async function unpackProgram(
  fetched: string,
  { format, entry, others }: Pick<Archive, 'format' | 'entry' | 'others'>,
  file: string,
  limitBytes: number = largestBytes,
): Promise<UnpackedPrograms> {
  if (format === 'zip') return fromZip(fetched, entry, file, limitBytes);
  if (format === 'tar.gz') return fromTar(fetched, { entry, others }, file, limitBytes);
  if ((await stat(fetched)).size === 0) throw new Error('the archive is empty');
  return writeProgram(createReadStream(fetched), file, limitBytes);
}

async function fromZip(archive: string, name: string, file: string, limitBytes: number) {
  // The reader itself refuses names that lead out of the folder.
  const zip = await openPromise(archive, {
    strictFileNames: true,
    validateEntrySizes: true,
    autoClose: false,
  }).catch(wrong);
  try {
    const entry = await findEntry(zip, name, limitBytes);
    const content = await zip.openReadStreamPromise(entry).catch(wrong);
    return await writeProgram(content, file, limitBytes);
  } finally {
    zip.close();
  }
}

async function findEntry(
  zip: { entryCount: number; eachEntry(): AsyncIterable<Entry> },
  name: string,
  limitBytes: number,
): Promise<Entry> {
  if (zip.entryCount > maxEntries) throw tooMany(zip.entryCount);
  let found: Entry | undefined;
  try {
    for await (const entry of zip.eachEntry()) if (entry.fileName === name) found ??= entry;
  } catch (error) {
    wrong(error);
  }
  if (!found) throw missing(name);
  const kind = (found.externalFileAttributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000) throw notRegular(name);
  if (found.uncompressedSize > limitBytes) throw tooLarge(name, limitBytes);
  return found;
}

/** A tar has no list of its entries: they are read in their order, and none but the programs are written. */
async function fromTar(
  archive: string,
  { entry: wanted, others }: Pick<Archive, 'entry' | 'others'>,
  file: string,
  limitBytes: number,
): Promise<UnpackedPrograms> {
  const written = new Map<string, WrittenProgram>();
  let count = 0;
  try {
    for await (const entry of readArchive(archive, limitBytes)) {
      if (++count > maxEntries) throw tooMany(count);
      const path = entry.name.replace(/^\.\//, '');
      if (path.startsWith('/') || path.split('/').includes('..'))
        throw new Error(`the archive has an entry that leads out of its folder: ${JSON.stringify(path)}`);
      const target = path === wanted ? file : besides(file, others?.exec(path)?.[1]);
      if (target === null || written.has(target)) continue;
      if (entry.kind !== 'file') throw notRegular(path);
      written.set(target, await writeProgram(entry.content as AsyncIterable<Uint8Array>, target, limitBytes));
    }
  } catch (error) {
    wrong(error);
  }
  const program = written.get(file);
  if (program === undefined) throw missing(wanted);
  written.delete(file);
  if (written.size === 0) return program;
  return { ...program, others: Object.fromEntries([...written].map(([path, one]) => [basename(path), one])) };
}

/** The path of another program, in the folder of the first one; null: it is not wanted. */
function besides(file: string, name: string | undefined): string | null {
  return name === undefined || name.includes('/') ? null : join(dirname(file), name);
}

async function writeProgram(
  content: AsyncIterable<Uint8Array>,
  file: string,
  limitBytes: number,
): Promise<WrittenProgram> {
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(file, 'wx', 0o600);
  try {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > limitBytes) throw new Error(`the archive unpacks to more than ${limitBytes} bytes`);
      hash.update(piece);
      await target.writeFile(piece);
    }
    await target.chmod(0o555);
    await target.sync();
  } catch (error) {
    wrong(error);
  } finally {
    await target.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

function missing(name: string): Error {
  return new Error(`the archive does not contain ${name}`);
}

function notRegular(name: string): Error {
  return new Error(`the archive contains ${name}, which is not a regular file`);
}

function tooLarge(name: string, limitBytes: number): Error {
  return new Error(`the archive contains ${name} with more than ${limitBytes} bytes`);
}

function tooMany(count: number): Error {
  return new Error(`the archive has ${count} entries, more than the limit of ${maxEntries}`);
}

function wrong(cause: unknown): never {
  const { message } = cause as Error;
  if (message.startsWith('the archive')) throw cause;
  throw new Error(`the archive cannot be unpacked: ${message}`, { cause });
}
