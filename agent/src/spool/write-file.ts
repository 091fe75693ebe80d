/** Writes files so that a kill or a power cut leaves either the old or the new one, complete. */
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes the content of a file durable; its name is made so by `syncFolder`. */
export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
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
  await Promise.all([writeNew(`${file}.new`, content), ...others.map(syncFile)]);
  await rename(`${file}.new`, file);
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

/** Writes a file that appears complete or not at all, but may be lost in a power cut. */
export async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

/** Writes one JSON value as a file, as `writeWhole` does. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await writeWhole(file, `${JSON.stringify(value)}\n`);
}

/** Writes and fsyncs a file of mode 0600 under its own name; the folder's names are not yet durable. */
export async function writeNew(
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
export async function linkFile(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await link(from, to);
}

/** Removes a folder with all its contents, if it exists. Links are removed, not followed. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
