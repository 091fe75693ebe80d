/** Sealed files that the database refers to: plans, trees, states. Written once, never changed. */
import { createHash, hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Sealer } from '../secrets/sealer.ts';

/** Row of a blob; hash and length are those of the content before sealing. */
export interface BlobRef {
  readonly id: string;
  readonly sha256: string;
  readonly bytes: number;
  /** The content of a small one, sealed, as base64: it is in no file, and as durable as the row that names it. */
  readonly sealed?: string;
}

/** A whole content, its pieces in their order, or a stream. */
export type BlobContent = Buffer | readonly Buffer[] | AsyncIterable<Buffer>;

export interface BlobStore {
  /**
   * Stores a blob durably: once this resolves, it survives a power failure.
   * @param name parts that say what it is (kind, ids); each of letters, digits, `.`, `_` and `-`
   * @returns its reference; storing the same name again gives another one
   */
  put(name: readonly string[], content: BlobContent): Promise<BlobRef>;
  /**
   * The same for blobs that few rows name and for a short time: up to 64 KB they become part of the reference, so
   * that nothing is written to the file system.
   */
  putOrInline(name: readonly string[], content: AsyncIterable<Buffer>): Promise<BlobRef>;
  /** The content; the stream fails when the blob is missing or was changed. */
  get(ref: Pick<BlobRef, 'id' | 'sealed'>): Readable;
  /** Removes a blob; one that is not there counts as removed. */
  remove(ref: Pick<BlobRef, 'id'>): Promise<void>;
  /** Ids of the blobs that were stored before a time. */
  listStoredBefore(time: Date): AsyncIterable<string>;
  /**
   * Removes what nothing needs: files that were not finished, and folders that have been empty since a time.
   */
  tidyUp(time: Date): Promise<void>;
}

const partPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * Blobs as files below a folder.
 * @param folder absolute path; made when the first blob is stored
 */
export function createFolderBlobStore(folder: string, sealer: Sealer): BlobStore {
  const root = resolve(folder);
  return {
    async putOrInline(name, content) {
      const { small, all } = await smallOf(content);
      if (!small) return this.put(name, all);
      const id = [...name, randomUUID()].join('/');
      fileOf(root, id);
      return {
        id,
        sha256: hash('sha256', small, 'hex'),
        bytes: small.length,
        sealed: sealer.seal(small, association(id)).toString('base64'),
      };
    },
    async put(name, content) {
      const id = [...name, randomUUID()].join('/');
      if (name.some((part) => part.includes('/'))) throw notAName(id);
      const file = fileOf(root, id);
      const counter = new Counter();
      const handle = await create(`${file}${unfinished}`);
      try {
        await pipeline(
          sealer.sealStream(counter.pass(content), association(id)),
          handle.createWriteStream({ flush: true }),
        );
        await rename(`${file}${unfinished}`, file);
      } catch (error) {
        await rm(`${file}${unfinished}`, { force: true });
        throw error;
      }
      await fsyncFolder(dirname(file));
      return { id, ...counter.result() };
    },
    get: ({ id, sealed }) =>
      sealed !== undefined
        ? Readable.from(opened(sealer, id, sealed), { objectMode: false })
        : Readable.from(sealer.openStream(createReadStream(fileOf(root, id)), association(id)), {
            objectMode: false,
          }),
    remove: ({ id }) => rm(fileOf(root, id), { force: true }),
    async *listStoredBefore(time) {
      for await (const { path, isFolder } of walk(root, time))
        if (!isFolder && dirname(path) !== root && !path.endsWith(unfinished))
          yield relative(root, path).split(sep).join('/');
    },
    async tidyUp(time) {
      for await (const { path, isFolder } of walk(root, time)) {
        if (isFolder) await rmdir(path).catch(() => undefined);
        else if (path.endsWith(unfinished)) await rm(path, { force: true });
      }
    },
  };
}

const smallBytes = 64 * 1024;

/** Reads on until the content ends or is too large. @returns `all`: what was read, and the rest */
async function smallOf(
  content: AsyncIterable<Buffer>,
): Promise<{ small: Buffer | null; all: AsyncIterable<Buffer> }> {
  const parts: Buffer[] = [];
  const rest = content[Symbol.asyncIterator]();
  for (let bytes = 0; bytes <= smallBytes; ) {
    const { done, value } = await rest.next();
    if (done) return { small: Buffer.concat(parts), all: Readable.from(parts) };
    parts.push(value);
    bytes += value.length;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* parts;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return { small: null, all: all() };
}

async function* opened(sealer: Sealer, id: string, sealed: string): AsyncGenerator<Buffer> {
  yield sealer.open(Buffer.from(sealed, 'base64'), association(id));
}

const unfinished = '.new';
const mostAttempts = 5;

/**
 * Files and empty folders below a folder that have not changed since a time, folders after what is in them.
 */
async function* walk(folder: string, time: Date): AsyncGenerator<{ path: string; isFolder: boolean }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isOld = await stat(path).then(
      ({ mtime }) => mtime < time,
      () => false,
    );
    if (entry.isDirectory()) yield* walk(path, time);
    if (isOld && (entry.isFile() || (await readdir(path).catch(() => ['gone'])).length === 0))
      yield { path, isFolder: entry.isDirectory() };
  }
}

function fileOf(root: string, id: string): string {
  const parts = id.split('/');
  const file = resolve(root, ...parts);
  if (parts.length < 2 || !parts.every((part) => partPattern.test(part)) || !file.startsWith(root + sep)) {
    throw notAName(id);
  }
  return file;
}

function notAName(id: string): Error {
  return new Error(`${JSON.stringify(id)} is not the name of a blob.`);
}

const pieceBytes = 1024 * 1024;

/** Others are served between two pieces of a large content. */
function* piecesOf(contents: readonly Buffer[]): Generator<Buffer> {
  for (const content of contents)
    for (let start = 0; start < content.length; start += pieceBytes)
      yield content.subarray(start, start + pieceBytes);
}

function inPieces(content: BlobContent): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (Buffer.isBuffer(content)) return piecesOf([content]);
  return Symbol.asyncIterator in content ? content : piecesOf(content);
}

class Counter {
  readonly #hash = createHash('sha256');
  #bytes = 0;

  async *pass(content: BlobContent): AsyncGenerator<Buffer> {
    for await (const chunk of inPieces(content)) {
      this.#hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  result(): { sha256: string; bytes: number } {
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes };
  }
}

/** Makes a file and its folder, which another server may remove right now because it is empty. */
async function create(file: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    try {
      await makeFolderDurably(dirname(file));
      return await open(file, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === mostAttempts) throw error;
    }
  }
}

/** A folder's entry in its parent is durable only when the parent is synced. */
async function makeFolderDurably(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await fsyncFolder(dirname(made));
    if (made === first) return;
  }
}

async function fsyncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

function association(id: string) {
  return { table: 'blob', row: id, field: 'content' } as const;
}
