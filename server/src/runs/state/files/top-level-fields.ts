/**
 * Changes one top-level number of a JSON object's text and leaves every other byte as it is: reading and
 * writing a state as values would round numbers that a provider has stored with more digits than ours have.
 */
import { behindString } from '#protocol/tools/states/json-outline.ts';

/** Where a value is, in bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);
/** What may be between the values of a JSON text. */
export const jsonSpaces: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The place of the plain value behind a key; empty where another kind of value follows, or none. */
function plainValue(bytes: Uint8Array, behindKey: number): ByteRange {
  const at = (index: number) => bytes[index] ?? comma;
  let start = behindKey;
  while (jsonSpaces.has(at(start)) || at(start) === colon) start++;
  let end = start;
  const ends = (byte: number) =>
    byte === comma || byte === quote || jsonSpaces.has(byte) || opening.has(byte) || closing.has(byte);
  while (!ends(at(end))) end++;
  return { start, end };
}

/**
 * The place of a top-level key's value. It reads the bytes before, which takes long if there are many.
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
