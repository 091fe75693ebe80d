/**
 * Sealing: AES-256-GCM with the row and field that the value belongs to as associated data, so that a sealed
 * value that was moved to another place in the database does not open.
 *
 *   value   version (1 byte, 1) · key id (4) · nonce (12) · ciphertext · tag (16)
 *   stream  version (1 byte, 2) · key id (4) · salt (32) · frames, each: ciphertext of up to 64 KiB · tag (16)
 *
 * A stream has a key of its own, derived from its salt and place. The nonce of a frame is its number and
 * whether it is the last one: frames that were left out, added, exchanged or cut off do not open.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { deriveKey, type KeyRing, type SealingKey } from './key-ring.ts';

/** Context that a sealed value is bound to. */
export interface Association {
  readonly table: string;
  readonly row: string;
  readonly field: string;
}

export interface Sealer {
  /** Seals a value for one place. */
  seal(plaintext: Buffer | string, association: Association): Buffer;
  /** @throws SealError when it was sealed for another place, by a key we do not have, or was changed */
  open(sealed: Buffer, association: Association): Buffer;
  /** Seals while it streams; memory stays below a few frames whatever the length. */
  sealStream(plaintext: AsyncIterable<Buffer>, association: Association): AsyncGenerator<Buffer>;
  /**
   * Yields only what is authenticated. @throws SealError as `open` does, also for a stream that was cut off
   */
  openStream(sealed: AsyncIterable<Buffer>, association: Association): AsyncGenerator<Buffer>;
}

export class SealError extends Error {
  constructor(association: Association, reason: string, cause?: unknown) {
    super(
      `The sealed ${association.field} of ${association.table} ${association.row} cannot be opened: ${reason}.`,
      { cause },
    );
    this.name = 'SealError';
  }
}

const cipher = 'aes-256-gcm';
const versions = { value: 1, stream: 2 } as const;
const keyIdBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const saltBytes = 32;
const frameBytes = 64 * 1024;

/** Finds the key that a header names. */
type KeyFinder = (header: Buffer, version: number, association: Association) => DerivedKey;

interface DerivedKey {
  readonly ring: KeyRing['keys'][number];
  /** Derived for values, and made into a key once, which takes longer than to open one. Streams derive one each. */
  readonly value: KeyObject;
}

function keyFinder(ring: KeyRing): KeyFinder {
  const keys = new Map<string, DerivedKey>(
    ring.keys.map((key) => [
      key.id.toString('hex'),
      { ring: key, value: createSecretKey(deriveKey(key, 'values')) },
    ]),
  );
  return (header, version, association) => {
    const id = header.subarray(1, 1 + keyIdBytes).toString('hex');
    if (header[0] !== version) throw new SealError(association, 'its format is unknown to this version');
    const key = keys.get(id);
    if (key === undefined)
      throw new SealError(association, `the key ${id} that sealed it is not in ${ring.file}`);
    return key;
  };
}

export function createSealer(ring: KeyRing): Sealer {
  const first = ring.keys[0];
  const keyOf = keyFinder(ring);
  return {
    seal(plaintext, association) {
      const header = Buffer.concat([Buffer.of(versions.value), first.id, randomBytes(nonceBytes)]);
      const key = keyOf(header, versions.value, association).value;
      const encrypt = createCipheriv(cipher, key, header.subarray(1 + keyIdBytes)).setAAD(
        associatedData(header, association),
      );
      return Buffer.concat([header, encrypt.update(plaintext), encrypt.final(), encrypt.getAuthTag()]);
    },
    open(sealed, association) {
      const headerBytes = 1 + keyIdBytes + nonceBytes;
      if (sealed.length < headerBytes + tagBytes) throw new SealError(association, 'it is truncated');
      const header = sealed.subarray(0, headerBytes);
      const key = keyOf(header, versions.value, association).value;
      return decrypt(
        key,
        header.subarray(1 + keyIdBytes),
        sealed.subarray(headerBytes),
        association,
        associatedData(header, association),
      );
    },
    async *sealStream(plaintext, association) {
      const salt = randomBytes(saltBytes);
      yield Buffer.concat([Buffer.of(versions.stream), first.id, salt]);
      const key = streamKey(first, salt, association);
      for await (const { piece, number, isLast } of pieces(plaintext, frameBytes)) {
        const encrypt = createCipheriv(cipher, key, frameNonce(number, isLast));
        yield Buffer.concat([encrypt.update(piece), encrypt.final(), encrypt.getAuthTag()]);
      }
    },
    async *openStream(sealed, association) {
      const { head, rest } = await splitHead(sealed, 1 + keyIdBytes + saltBytes, association);
      const key = streamKey(
        keyOf(head, versions.stream, association).ring,
        head.subarray(1 + keyIdBytes),
        association,
      );
      for await (const { piece, number, isLast } of pieces(rest, frameBytes + tagBytes)) {
        if (piece.length < tagBytes) throw new SealError(association, 'it is truncated');
        const opened = decrypt(key, frameNonce(number, isLast), piece, association);
        if (opened.length > 0) yield opened;
      }
    },
  };
}

function decrypt(
  key: Buffer | KeyObject,
  nonce: Buffer,
  sealed: Buffer,
  association: Association,
  associated?: Buffer,
): Buffer {
  try {
    const decipher = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
    if (associated) decipher.setAAD(associated);
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - tagBytes)), decipher.final()]);
  } catch (error) {
    throw new SealError(association, 'it was changed, truncated, or sealed for another place', error);
  }
}

function associatedData(header: Buffer, association: Association): Buffer {
  return Buffer.concat([header, place(association)]);
}

/** Different places have different bytes. */
function place({ table, row, field }: Association): Buffer {
  return Buffer.from(JSON.stringify([table, row, field]));
}

function streamKey(key: SealingKey, salt: Buffer, association: Association): Buffer {
  return deriveKey(key, `stream ${place(association).toString()}`, salt);
}

function frameNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeUInt32BE(number, nonceBytes - 5);
  nonce[nonceBytes - 1] = isLast ? 1 : 0;
  return nonce;
}

interface Piece {
  readonly piece: Buffer;
  readonly number: number;
  readonly isLast: boolean;
}

/**
 * Cuts a stream into pieces of one size; the last one is shorter or equal, and there always is one, if an
 * empty one.
 */
async function* pieces(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Piece> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let number = 0;
  for await (const chunk of source) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes <= size) continue;
    let joined = Buffer.concat(waiting);
    for (; joined.length > size; joined = joined.subarray(size))
      yield { piece: joined.subarray(0, size), number: number++, isLast: false };
    waiting = [joined];
    bytes = joined.length;
  }
  yield { piece: Buffer.concat(waiting), number, isLast: true };
}

async function splitHead(
  source: AsyncIterable<Buffer>,
  size: number,
  association: Association,
): Promise<{ head: Buffer; rest: AsyncIterable<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let read = Buffer.alloc(0);
  while (read.length < size) {
    const next = await iterator.next();
    if (next.done) throw new SealError(association, 'it is truncated');
    read = Buffer.concat([read, next.value]);
  }
  async function* rest(): AsyncGenerator<Buffer> {
    try {
      yield read.subarray(size);
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { head: read.subarray(0, size), rest: rest() };
}
