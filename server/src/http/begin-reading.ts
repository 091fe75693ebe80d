/** Reading a blob for somebody who must learn before the first byte that there is none. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Refusal } from './errors.ts';

/**
 * Waits until the content begins.
 * @param stream as `BlobStore.get` gives it
 * @param what names the content in a sentence
 * @throws Refusal 404 where the file is not there or was changed: asking again cannot help; what the file
 * system fails with otherwise
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
      `${what} cannot be read in the data folder of this server (${reason}): servers of one installation share their blobs folder, and a backup holds it together with the database`,
    );
  }
}
