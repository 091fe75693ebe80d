/**
 * Writes files so that a kill or a power cut leaves either the old or the new one, complete.
 *
 * They are local and nearly all of them are small: what needs no turn of the disk is done at once, because handing it
 * to a thread takes several times as long as doing it.
 */
import {
  closeSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { open, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const sync = promisify(fsync);
/** Writing or freeing more takes so long that a thread does it. */
const smallBytes = 1 << 20;

/** Makes the content of a file durable; its name is made so by `syncFolder`. */
async function syncFile(file: string): Promise<void> {
  const descriptor = openSync(file, 'r');
  try {
    await sync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a folder durable. */
export const syncFolder = syncFile;

/**
 * Writes a file of mode 0600: temporary name, fsync, rename, fsync of the folder.
 * @param file absolute path; its folder exists
 * @param others files of the same folder that become durable with it, and are so when its name appears
 */
export async function writeDurably(
  file: string,
  content: string | Uint8Array,
  others: readonly string[] = [],
): Promise<void> {
  // One after the other would take a turn of the disk each.
  try {
    await Promise.all([writeNew(`${file}.new`, content), ...others.map(syncFile)]);
  } catch (error) {
    // A part of it would take the space on a full disk.
    rmSync(`${file}.new`, { force: true });
    throw error;
  }
  renameSync(`${file}.new`, file);
  await syncFolder(dirname(file));
}

/** Writes one JSON value as a file, as `writeDurably` does. */
export async function writeJsonDurably(
  file: string,
  value: unknown,
  others: readonly string[] = [],
): Promise<void> {
  await writeDurably(file, `${JSON.stringify(value)}\n`, others);
}

/** Writes a small file that appears complete or not at all, but may be lost in a power cut. */
export function writeWhole(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Writes one JSON value as a file, as `writeWhole` does. */
export function writeJson(file: string, value: unknown): void {
  writeWhole(file, `${JSON.stringify(value)}\n`);
}

/** Writes and fsyncs a file of mode 0600 under its own name; the folder's names are not yet durable. */
export async function writeNew(
  file: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  if (!isSmall(content)) return writeLarge(file, content);
  const descriptor = openSync(file, 'w', 0o600);
  try {
    writeFileSync(descriptor, content);
    await sync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isSmall(content: string | Uint8Array | AsyncIterable<Uint8Array>): content is string | Uint8Array {
  return (typeof content === 'string' || content instanceof Uint8Array) && content.length <= smallBytes;
}

async function writeLarge(
  file: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file a second name, without copying; an existing file of that name is replaced. */
export function linkFile(from: string, to: string): void {
  rmSync(to, { force: true });
  linkSync(from, to);
}

/** Removes a folder with all its contents, if it exists. Links are removed, not followed. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await removeNow(folder);
  } catch (error) {
    // Others may have written to it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function removeNow(path: string): Promise<void> {
  const status = lstatSync(path);
  if (!status.isDirectory()) return status.size > smallBytes ? unlink(path) : unlinkSync(path);
  for (const name of readdirSync(path)) await removeNow(join(path, name));
  rmdirSync(path);
}
