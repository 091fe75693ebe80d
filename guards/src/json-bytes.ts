/** Reads JSON texts as bytes, without the objects that parsing would make of large ones. */
import { createHash } from 'node:crypto';

/** A part of a text, in bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const [quote, backslash, comma, colon, openingObject] = [0x22, 0x5c, 0x2c, 0x3a, 0x7b];
const opening = new Set([0x5b, openingObject]);
const closing = new Set([0x5d, 0x7d]);
/** May be between the values of a text. */
const spaces = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Bytes that mean something to a scan, outside of strings. */
const isSign = new Uint8Array(256);
for (const byte of [quote, comma, ...opening, ...closing]) isSign[byte] = 1;

export interface JsonLimits {
  /** Levels of objects and lists in each other. */
  readonly depth: number;
  /** Values and keys, counted by the commas and brackets between them. */
  readonly values: number;
}

/** The limit that a text exceeds; the message is the end of a sentence about the text. */
export interface JsonProblem {
  readonly limit: keyof JsonLimits;
  readonly message: string;
}

/**
 * Counts what a JSON text would become, while its bytes arrive: a text of a few megabytes can describe millions
 * of values, and parsing them holds up everybody.
 */
export class JsonScan {
  readonly #limits: JsonLimits;
  #depth = 0;
  #values = 1;
  #isString = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @returns null for a text that is within the limits up to here */
  push(bytes: Uint8Array): JsonProblem | null {
    const { depth, values } = this.#limits;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (this.#isString) this.#inString(byte);
      else if (isSign[byte] === 1 && this.#goesTooDeep(byte))
        return { limit: 'depth', message: `is nested deeper than ${depth} levels` };
    }
    return this.#values > values ? { limit: 'values', message: `has more than ${values} values` } : null;
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isString = false;
  }

  /** Counts a sign. @returns whether it begins one level too many */
  #goesTooDeep(byte: number): boolean {
    if (byte === quote) this.#isString = true;
    else if (closing.has(byte)) this.#depth--;
    else {
      this.#values++;
      return byte !== comma && ++this.#depth > this.#limits.depth;
    }
    return false;
  }
}

/** The index behind the string that begins at an index of a JSON text in UTF-8. */
function behindString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === backslash) at++;
    else if (byte === quote) return at + 1;
  }
  return bytes.length;
}

export interface JsonOutline {
  /** Each object below the upper levels is `{"part": n}` and each list `[n]`, where n is its index in `parts`. */
  readonly value: unknown;
  readonly parts: readonly ByteRange[];
}

export interface OutlineOptions {
  /** Maximum depth of nested objects and lists. */
  readonly levels: number;
  /** Decodes bytes; throws for what it does not accept. */
  readonly decode: (bytes: Uint8Array) => string;
  /** Whether the parts are checked, too; each is parsed on its own, and nothing of it is kept. */
  readonly checksParts: boolean;
}

/** A longer string of the upper levels is checked like a part, and read as an empty one. */
const longestString = 1024 * 1024;

/**
 * Reads the upper levels of a text. What is below them is left where it is, so that reading needs little memory next
 * to the text.
 * @param bytes a JSON text in UTF-8
 * @throws SyntaxError for bytes that are not JSON, as `JSON.parse` does, where the parts are checked
 */
export function outlineJson(bytes: Uint8Array, { levels, decode, checksParts }: OutlineOptions): JsonOutline {
  const parts: ByteRange[] = [];
  const kept: Uint8Array[] = [];
  let keptTo = 0;
  const replace = (start: number, end: number, by: string) => {
    if (checksParts) JSON.parse(decode(bytes.subarray(start, end)));
    kept.push(bytes.subarray(keptTo, start), Buffer.from(by));
    keptTo = end;
  };
  let depth = 0;
  let partStart = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isSign[byte] !== 1) continue;
    if (byte === quote) {
      const end = behindString(bytes, at);
      if (depth <= levels && end - at > longestString) replace(at, end, '""');
      at = end - 1;
    } else if (opening.has(byte)) {
      if (depth++ === levels) partStart = at;
    } else if (closing.has(byte) && --depth === levels) {
      const index = parts.push({ start: partStart, end: at + 1 }) - 1;
      const isObject = bytes[partStart] === openingObject;
      replace(partStart, at + 1, isObject ? `{"part":${index}}` : `[${index}]`);
    }
  }
  // Of a part without an end, its first byte is enough to be refused.
  kept.push(bytes.subarray(keptTo, depth > levels ? partStart + 1 : bytes.length));
  return { value: JSON.parse(decode(Buffer.concat(kept))), parts };
}

/** The place of the plain value behind a key; empty where another kind of value follows, or none. */
function plainValue(bytes: Uint8Array, behindKey: number): ByteRange {
  const at = (index: number) => bytes[index] ?? comma;
  let start = behindKey;
  while (spaces.has(at(start)) || at(start) === colon) start++;
  let end = start;
  const ends = (byte: number) =>
    byte === comma || byte === quote || spaces.has(byte) || opening.has(byte) || closing.has(byte);
  while (!ends(at(end))) end++;
  return { start, end };
}

/**
 * The place of a top-level key's value: reading and writing a state as values would round numbers that a provider
 * has stored with more digits than ours have. It reads the bytes before, which takes long if there are many.
 * @param bytes a valid JSON object in UTF-8
 * @param key of ASCII characters
 * @throws Error where the object has no such key with a plain value at its top
 */
export function topLevelPlace(bytes: Uint8Array, key: string): ByteRange {
  // Each character may be written as an escape.
  const longest = '""'.length + '\\u0000'.length * key.length;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (opening.has(byte)) depth++;
    else if (closing.has(byte)) depth--;
    else if (byte === quote) {
      const end = behindString(bytes, at);
      if (depth === 1 && end - at <= longest && JSON.parse(text.toString('latin1', at, end)) === key) {
        const place = plainValue(bytes, end);
        if (place.end > place.start) return place;
      }
      at = end - 1;
    }
  }
  throw new Error(`the text has no number "${key}" at its top level`);
}

/** The bytes with a number in a place, as pieces of the same memory. */
export function withNumber(bytes: Buffer, { start, end }: ByteRange, value: number): Buffer[] {
  return [bytes.subarray(0, start), Buffer.from(String(value)), bytes.subarray(end)];
}

const pieceBytes = 64 * 1024;

/** The SHA-256 (base64) of a JSON text without the spaces between its values: tools format states, people may not. */
export function digestOf(json: Uint8Array): string {
  const hash = createHash('sha256');
  const piece = new Uint8Array(Math.min(pieceBytes, json.length));
  let size = 0;
  let behindText = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (at >= behindText) {
      if (spaces.has(byte)) continue;
      if (byte === quote) behindText = behindString(json, at);
    }
    if (size === piece.length) {
      hash.update(piece);
      size = 0;
    }
    piece[size++] = byte;
  }
  return hash.update(piece.subarray(0, size)).digest('base64');
}
