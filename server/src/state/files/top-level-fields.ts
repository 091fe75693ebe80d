/**
 * Changes one top-level number of a JSON object's text and leaves every other byte as it is: reading and
 * writing a state as values would round numbers that a provider has stored with more digits than ours have.
 */

/** Index behind a string that begins at `start`. */
function behindString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === '"') return index + 1;
  }
  return text.length;
}

/** Where a value is, in bytes. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The place of a top-level key's value. It reads the whole text, which takes long for a large one.
 * @param bytes a valid JSON object in UTF-8
 * @param key of ASCII characters
 * @throws Error where the object has no such key with a plain value at its top
 */
export function topLevelPlace(bytes: Uint8Array, key: string): Place {
  // One character for each byte, so that places in the text are places in the bytes.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const end = behindString(text, index);
      const value = /\s*:\s*([-+.\w]+)/y;
      value.lastIndex = end;
      const found = depth === 1 && JSON.parse(text.slice(index, end)) === key ? value.exec(text) : null;
      if (found?.[1] !== undefined) return { start: value.lastIndex - found[1].length, end: value.lastIndex };
      index = end - 1;
    }
  }
  throw new Error(`the text has no number "${key}" at its top level`);
}

/** The bytes with a number in a place, as pieces of the same memory. */
export function withNumber(bytes: Buffer, { start, end }: Place, value: number): Buffer[] {
  return [bytes.subarray(0, start), Buffer.from(String(value)), bytes.subarray(end)];
}
