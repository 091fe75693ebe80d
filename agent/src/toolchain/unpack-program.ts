/** Unpacks one program from a zip archive. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Entry } from 'yauzl';

/** No program that runs here is larger. */
const largestBytes = 2 ** 30;
/** Archives of programs contain a licence and a manual, not thousands of files. */
const maxEntries = 1000;

/**
 * Writes the program, and nothing else, to a new file that everybody may read and execute, and makes it
 * durable.
 * @param archive path of the zip
 * @param name of the program, at the root of the archive
 * @returns SHA-256 in lower-case hex and size of the program
 * @throws Error that says what is wrong with the archive
 */
export async function unpackProgram(
  archive: string,
  name: string,
  file: string,
): Promise<{ sha256: string; bytes: number }> {
  const { openPromise } = await import('yauzl');
  // The reader itself refuses names that lead out of the folder.
  const zip = await openPromise(archive, {
    strictFileNames: true,
    validateEntrySizes: true,
    autoClose: false,
  }).catch(wrong);
  try {
    const entry = await findEntry(zip, name);
    const content = await zip.openReadStreamPromise(entry).catch(wrong);
    return await writeProgram(content, file);
  } finally {
    zip.close();
  }
}

async function findEntry(
  zip: { entryCount: number; eachEntry(): AsyncIterable<Entry> },
  name: string,
): Promise<Entry> {
  if (zip.entryCount > maxEntries)
    throw new Error(`the archive has ${zip.entryCount} entries, more than the limit of ${maxEntries}`);
  let found: Entry | undefined;
  try {
    for await (const entry of zip.eachEntry()) if (entry.fileName === name) found ??= entry;
  } catch (error) {
    wrong(error);
  }
  if (!found) throw new Error(`the archive does not contain ${name}`);
  const kind = (found.externalFileAttributes >>> 16) & 0o170000;
  if (kind !== 0 && kind !== 0o100000) throw new Error(`${name} in the archive is not a regular file`);
  if (found.uncompressedSize > largestBytes)
    throw new Error(`${name} in the archive has more than ${largestBytes} bytes`);
  return found;
}

async function writeProgram(
  content: AsyncIterable<Uint8Array>,
  file: string,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const target = await open(file, 'wx', 0o600);
  try {
    for await (const piece of content) {
      bytes += piece.length;
      if (bytes > largestBytes) throw new Error(`the archive unpacks to more than ${largestBytes} bytes`);
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

function wrong(cause: unknown): never {
  const { message } = cause as Error;
  if (message.startsWith('the archive')) throw cause;
  throw new Error(`the archive cannot be unpacked: ${message}`, { cause });
}
