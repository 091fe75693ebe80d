/** Reads a blob for a caller who must know before the first byte whether it exists. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Refusal } from '../errors.ts';

/**
 * Waits until the content begins.
 * @param stream as `BlobStore.get` gives it
 * @param what names the content in a sentence
 * @throws Refusal 404 where the file is not there or was changed: retrying cannot help; else the file
 * system's error
 */
export async function beginReading(stream: Readable, what: string): Promise<Readable> {
  try {
    if (!stream.readableEnded) await once(stream, 'readable');
    return stream;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== undefined && code !== 'ENOENT') throw error;
    const reason = code === 'ENOENT' ? 'its file is missing' : message;
    throw new Refusal(
      'not_found',
      `${what} cannot be read from the data folder of this server (${reason}): all servers of an installation must share their blobs folder, and a backup must contain it together with the database`,
    );
  }
}
