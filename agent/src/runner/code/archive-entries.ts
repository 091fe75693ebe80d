/**
 * Reads the entries of a tar archive that is compressed by gzip, and writes them to a plain one. Uploaded archives
 * are never given to `tar` as they are: what was judged is written again, so that no second program can read it
 * differently.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header, type Pack, pack } from 'tar-stream';

export interface ArchiveEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'hard link' | 'symbolic link' | 'other';
  /** Of a link. */
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
 * @param limitBytes how large it may be once it is unpacked
 * @throws Error that a person can read where it is not such an archive, or too large
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

/** What the reader of archives reports, as a person may read it. */
function explained(error: Error): Error {
  if (/^Invalid (tar )?header|^Header exceeds/.test(error.message))
    return new Error('it is not a tar archive', { cause: error });
  if (error.message === 'Unexpected end of data')
    return new Error('the archive ends in the middle of an entry', { cause: error });
  return error;
}

type WritableEntry = ArchiveEntry & { readonly kind: keyof typeof types };

/** Whether an entry is of a kind that is copied. */
export function isWritable(entry: ArchiveEntry): entry is WritableEntry {
  return entry.kind in types;
}

/** A plain archive that is written entry by entry. */
export class ArchiveWriter {
  readonly #pack: Pack = pack();
  readonly #writing: Promise<void>;

  /** @param file absolute path; it must not exist */
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

  /** Ends the archive. @throws what kept it from being written */
  async finish(): Promise<void> {
    this.#pack.finalize();
    await this.#writing;
  }

  /** Gives up on an archive that is not finished. */
  async abandon(): Promise<void> {
    this.#pack.destroy(null);
    await this.#writing.catch(() => undefined);
  }
}
