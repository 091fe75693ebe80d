/**
 * Counts what a JSON text would become, while its bytes arrive: a text of a few megabytes can describe millions
 * of values, and parsing them holds up everybody.
 */
import { Refusal } from '../../ground/errors.ts';

export interface JsonLimits {
  /** Levels of objects and lists in each other. */
  readonly depth: number;
  /** Values and keys, counted by the commas and brackets between them. */
  readonly values: number;
}

export const bodyJsonLimits: JsonLimits = { depth: 64, values: 100_000 };

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);
/** Which bytes mean something outside of a string. */
const isSign = new Uint8Array(256);
for (const byte of [quote, comma, ...opening, ...closing]) isSign[byte] = 1;

export class JsonScan {
  readonly #limits: JsonLimits;
  readonly #subject: string;
  #depth = 0;
  #values = 1;
  #isString = false;
  #isEscaped = false;

  /** @param subject begins the refusals */
  constructor(limits: JsonLimits, subject = '/body') {
    this.#limits = limits;
    this.#subject = subject;
  }

  /** @throws Refusal 400 for text that is nested too deeply, 413 for too many values */
  push(bytes: Uint8Array): void {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (this.#isString) this.#inString(byte);
      else if (isSign[byte] === 1) this.#onSign(byte);
    }
    if (this.#values > this.#limits.values)
      throw new Refusal('payload_too_large', `${this.#subject} has more than ${this.#limits.values} values`);
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isString = false;
  }

  #onSign(byte: number): void {
    if (byte === quote) this.#isString = true;
    else if (byte === comma) this.#values++;
    else if (closing.has(byte)) this.#depth--;
    else {
      this.#values++;
      if (++this.#depth > this.#limits.depth)
        throw new Refusal(
          'bad_request',
          `${this.#subject} is nested deeper than ${this.#limits.depth} levels`,
        );
    }
  }
}
