/**
 * Reads the entries of a gzipped tar archive and writes them to a plain one. An uploaded archive is never
 * passed to `tar` unchanged: its checked entries are written to a new archive, which no program can read
 * differently.
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';

export interface ArchiveEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'hard link' | 'symbolic link' | 'other';
  /** The target of a link. */
  readonly target: string;
  readonly bytes: number;
  readonly mode: number;
  readonly modifiedAt: Date;
  readonly content: AsyncIterable<unknown>;
}

const kinds: Readonly<Record<string, ArchiveEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'folder',
  link: 'hard link',
  symlink: 'symbolic link',
};
const types = {
  file: 'file',
  folder: 'directory',
  'hard link': 'link',
  'symbolic link': 'symlink',
} as const satisfies Partial<Record<ArchiveEntry['kind'], Header['type']>>;

/**
 * @param file absolute path of the archive
 * @param limitBytes limit of its unpacked size
 * @throws an Error with a message for people if the file is not such an archive or is too large
 */
export async function* readArchive(file: string, limitBytes: number): AsyncGenerator<ArchiveEntry> {
  const entries = extract();
  const reading = pipeline(createReadStream(file), createGunzip(), limited(limitBytes), entries);
  reading.catch(() => undefined);
  try {
    for await (const content of entries) {
      yield entryOf(content.header, content);
      content.resume();
    }
    await reading;
  } catch (error) {
    throw explained(error as Error);
  } finally {
    entries.destroy();
    await reading.catch(() => undefined);
  }
}

function entryOf(header: Header, content: AsyncIterable<unknown>): ArchiveEntry {
  const { name, type, linkname, size, mode, mtime } = header;
  const attributes = Object.keys(header.pax ?? {});
  const isSparse = attributes.some((attribute) => attribute.startsWith('GNU.sparse'));
  const kind = isSparse ? 'other' : (kinds[type] ?? 'other');
  return {
    name,
    kind: kind === 'file' && name.endsWith('/') ? 'folder' : kind,
    target: linkname,
    bytes: size,
    mode,
    modifiedAt: mtime,
    content,
  };
}

function limited(limitBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= limitBytes) done(null, chunk);
      else done(new Error(`it unpacks to more than ${Math.floor(limitBytes / (1024 * 1024))} MB`));
    },
  });
}

/** Replaces messages of the archive reader by ones for people. */
function explained(error: Error): Error {
  if (/^Invalid (tar )?header|^Header exceeds/.test(error.message))
    return new Error('it is not a tar archive', { cause: error });
  if (error.message === 'Unexpected end of data')
    return new Error('the archive ends in the middle of an entry', { cause: error });
  return error;
}

type WritableEntry = ArchiveEntry & { readonly kind: keyof typeof types };

/** Whether the entry's kind can be copied. */
export function isWritable(entry: ArchiveEntry): entry is WritableEntry {
  return entry.kind in types;
}

/** Writes a plain archive entry by entry. */
export class ArchiveWriter {
  readonly #pack: Pack = pack();
  readonly #writing: Promise<void>;

  /** @param file absolute path of a new file */
  constructor(file: string) {
    this.#writing = pipeline(this.#pack, createWriteStream(file, { mode: 0o600, flags: 'wx' }));
    this.#writing.catch(() => undefined);
  }

  async add(entry: WritableEntry): Promise<void> {
    const { name, kind, target, bytes, mode, modifiedAt, content } = entry;
    const isLink = kind === 'hard link' || kind === 'symbolic link';
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    written.catch(() => undefined);
    const sink = this.#pack.entry(
      {
        name,
        type: types[kind],
        size: bytes,
        mode,
        mtime: modifiedAt,
        ...(isLink ? { linkname: target } : {}),
      },
      (error) => (error ? reject(error) : resolve()),
    );
    if (kind === 'file') {
      for await (const chunk of content)
        if (!sink.write(chunk)) await Promise.race([once(sink, 'drain'), this.#writing]);
      sink.end(null);
    }
    await Promise.race([written, this.#writing]);
  }

  /** Completes the archive. @throws the error that prevented it from being written */
  async finish(): Promise<void> {
    this.#pack.finalize();
    await this.#writing;
  }

  /** Abandons an incomplete archive. */
  async abandon(): Promise<void> {
    this.#pack.destroy(null);
    await this.#writing.catch(() => undefined);
  }
}
