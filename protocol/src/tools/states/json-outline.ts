/**
 * Reads the upper levels of a large JSON text. What is below them is left where it is, so that reading needs little
 * memory next to the text.
 */

/** A part of the text, in bytes. */
export interface JsonPart {
  readonly start: number;
  readonly end: number;
}

export interface JsonOutline {
  /** Each object below the upper levels is `{"part": n}` and each list `[n]`, where n is its index in `parts`. */
  readonly value: unknown;
  readonly parts: readonly JsonPart[];
}

export interface OutlineOptions {
  /** How many objects and lists in each other are read. */
  readonly levels: number;
  /** Decodes bytes; throws for what it does not accept. */
  readonly decode: (bytes: Uint8Array) => string;
  /** Whether the parts are checked, too; each is parsed on its own, and nothing of it is kept. */
  readonly checksParts: boolean;
}

const [quote, backslash] = [0x22, 0x5c];
const opening = { object: 0x7b, list: 0x5b } as const;
const closing = { object: 0x7d, list: 0x5d } as const;
/** A longer string of the upper levels is checked like a part, and read as an empty one. */
const longestString = 1024 * 1024;

/** The index behind the string that begins at an index of a JSON text in UTF-8. */
export function behindString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === backslash) at++;
    else if (byte === quote) return at + 1;
  }
  return bytes.length;
}

/**
 * @param bytes a JSON text in UTF-8
 * @throws SyntaxError for bytes that are not JSON, as `JSON.parse` does, where the parts are checked
 */
export function outlineJson(bytes: Uint8Array, { levels, decode, checksParts }: OutlineOptions): JsonOutline {
  const parts: JsonPart[] = [];
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
    const byte = bytes[at];
    if (byte === quote) {
      const end = behindString(bytes, at);
      if (depth <= levels && end - at > longestString) replace(at, end, '""');
      at = end - 1;
    } else if (byte === opening.object || byte === opening.list) {
      if (depth++ === levels) partStart = at;
    } else if ((byte === closing.object || byte === closing.list) && --depth === levels) {
      const index = parts.push({ start: partStart, end: at + 1 }) - 1;
      const isObject = bytes[partStart] === opening.object;
      replace(partStart, at + 1, isObject ? `{"part":${index}}` : `[${index}]`);
    }
  }
  // Of a part without an end, its first byte is enough to be refused.
  kept.push(bytes.subarray(keptTo, depth > levels ? partStart + 1 : bytes.length));
  return { value: JSON.parse(decode(Buffer.concat(kept))), parts };
}
