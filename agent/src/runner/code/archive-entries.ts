/**
 * Reads the list of contents of a tar archive that is compressed by gzip, to judge it before anything is
 * unpacked. Understands ustar, pax and GNU's long names; whatever it does not understand is an error.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

export interface ArchiveEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'hard link' | 'symbolic link' | 'other';
  /** Of a link. */
  readonly target: string;
  readonly bytes: number;
}

const blockBytes = 512;
/** A name or a set of attributes is never longer. */
const longestHeaderBytes = 1_000_000;
const kinds: Readonly<Record<string, ArchiveEntry['kind']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'hard link',
  '2': 'symbolic link',
  '5': 'folder',
};

/** Takes pieces of exact sizes out of a stream. */
class Pieces {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #limit: number;
  #held: Buffer = Buffer.alloc(0);
  #taken = 0;

  constructor(stream: AsyncIterable<Buffer>, limit: number) {
    this.#chunks = stream[Symbol.asyncIterator]();
    this.#limit = limit;
  }

  /** @returns the next bytes, null at the end of the stream. @throws Error where it ends within them */
  async take(count: number): Promise<Buffer | null> {
    while (this.#held.length < count) {
      const next = await this.#next();
      if (next === null) {
        if (this.#held.length === 0) return null;
        throw new Error('the archive ends in the middle of an entry');
      }
      this.#held = Buffer.concat([this.#held, next]);
    }
    const piece = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return piece;
  }

  async skip(count: number): Promise<void> {
    let left = count - this.#held.length;
    this.#held = this.#held.subarray(Math.min(count, this.#held.length));
    while (left > 0) {
      const next = await this.#next();
      if (next === null) throw new Error('the archive ends in the middle of an entry');
      this.#held = next.subarray(Math.min(left, next.length));
      left -= next.length;
    }
  }

  async #next(): Promise<Buffer | null> {
    const { value, done } = await this.#chunks.next();
    if (done === true) return null;
    this.#taken += value.length;
    if (this.#taken > this.#limit)
      throw new Error(`it unpacks to more than ${Math.floor(this.#limit / (1024 * 1024))} MB`);
    return value;
  }
}

function text(header: Buffer, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString('utf8');
}

function sizeOf(header: Buffer): number {
  const field = header.subarray(124, 136);
  const size =
    (field[0] ?? 0) >= 0x80
      ? Number(BigInt(`0x${field.subarray(1).toString('hex')}`))
      : Number.parseInt(text(header, 124, 12).trim() || '0', 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error('an entry has no readable size');
  return size;
}

function checkSum(header: Buffer): void {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  if (sum !== Number.parseInt(text(header, 148, 8).trim(), 8)) throw new Error('it is no tar archive');
}

/** Attributes of a pax header: lines of length, name and value. */
function paxAttributes(bytes: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let from = 0; from < bytes.length; ) {
    const space = bytes.indexOf(0x20, from);
    const length = Number(bytes.subarray(from, space).toString());
    if (space < 0 || !Number.isSafeInteger(length) || length <= 0 || from + length > bytes.length)
      throw new Error('a pax header is broken');
    const [, name = '', value = ''] =
      /^([^=]*)=([^]*)\n$/.exec(bytes.subarray(space + 1, from + length).toString('utf8')) ?? [];
    found.set(name, value);
    from += length;
  }
  return found;
}

function nameOf(header: Buffer): string {
  const isUstar = header.subarray(257, 262).toString() === 'ustar' && header[262] === 0;
  const prefix = isUstar ? text(header, 345, 155) : '';
  return prefix === '' ? text(header, 0, 100) : `${prefix}/${text(header, 0, 100)}`;
}

/**
 * @param file absolute path of the archive
 * @param limitBytes how large it may be once it is unpacked
 * @throws Error that a person can read where it is no such archive, or too large
 */
export async function* readArchive(file: string, limitBytes: number): AsyncGenerator<ArchiveEntry> {
  const source = createReadStream(file);
  const unzip = createGunzip();
  source.once('error', (error) => unzip.destroy(error));
  const pieces = new Pieces(source.pipe(unzip), limitBytes);
  try {
    yield* entriesOf(pieces);
  } finally {
    source.destroy();
    unzip.destroy();
  }
}

async function* entriesOf(pieces: Pieces): AsyncGenerator<ArchiveEntry> {
  let said = new Map<string, string>();
  for (let header = await pieces.take(blockBytes); header !== null; header = await pieces.take(blockBytes)) {
    // An empty block is the end.
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const flag = String.fromCharCode(header[156] ?? 0);
    const bytes = Number(said.get('size') ?? sizeOf(header));
    const padded = Math.ceil(bytes / blockBytes) * blockBytes;
    if ('xgLK'.includes(flag)) {
      if (bytes > longestHeaderBytes) throw new Error('a header is too long');
      const content = ((await pieces.take(padded)) ?? Buffer.alloc(0)).subarray(0, bytes);
      const attributes =
        flag === 'x' || flag === 'g'
          ? paxAttributes(content)
          : new Map([[flag === 'L' ? 'path' : 'linkpath', text(content, 0, bytes)]]);
      if (flag === 'g' && ['path', 'linkpath', 'size'].some((name) => attributes.has(name)))
        throw new Error('a header gives all entries one name');
      if (flag !== 'g') said = new Map([...said, ...attributes]);
      continue;
    }
    const kind = [...said.keys()].some((name) => name.startsWith('GNU.sparse'))
      ? 'other'
      : (kinds[flag] ?? 'other');
    const name = said.get('path') ?? nameOf(header);
    yield {
      name,
      kind: kind === 'file' && name.endsWith('/') ? 'folder' : kind,
      target: said.get('linkpath') ?? text(header, 157, 100),
      bytes,
    };
    said = new Map();
    await pieces.skip(padded);
  }
}
