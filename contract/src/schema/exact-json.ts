/**
 * JSON whose numbers keep every digit. A JavaScript number rounds 9223372036854775807, and forgets that 1.0 was not
 * written as 1. Whatever a tool may have written is read here; `JSON.stringify` writes it again.
 */

/** Of ES2026, which TypeScript does not describe yet. Browsers have it since the spring of 2025. */
const { rawJSON } = JSON as unknown as { rawJSON?(text: string): unknown };

/**
 * A number with another text than JavaScript gives it: above 2^53, with more than 17 digits, or such as 1.0, 1e400 and
 * -0. All other numbers are plain ones.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` writes its text; an old browser writes the digits as a string. */
  toJSON(): unknown {
    return rawJSON?.(this.text) ?? this.text;
  }

  toString(): string {
    return this.text;
  }
}

/** Whatever may be a number: outside of texts, each is between two of these characters. */
const numbers = /(?:^|[[:,\s])(-?\d[\d.]*(?:[eE][+-]?\d+)?)(?=[\s,\]}]|$)/g;
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/g;

/** The digits of a number, however it is held; null for anything else. */
export function numberText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return value instanceof ExactNumber ? value.text : null;
}

/** `typeof` for values of JSON: an exact number is a number. */
export function typeOfJson(value: unknown): string {
  return value instanceof ExactNumber ? 'number' : typeof value;
}

/** Whether JavaScript writes a number as it was written. */
function isPlain(text: string): boolean {
  return String(Number(text)) === text;
}

/** Looking for them first takes a fifth of the time that reading each value with its text takes. */
function hasExactNumbers(text: string): boolean {
  for (const [, number = ''] of text.matchAll(numbers)) if (!isPlain(number)) return true;
  return false;
}

function exactly(value: unknown, source: string | undefined): unknown {
  return typeof value === 'number' && source !== undefined && !isPlain(source)
    ? new ExactNumber(source)
    : value;
}

/** An old browser gets a text with the digits in place of a number that it would round. */
function quoted(text: string): string {
  return text.replaceAll(textOrNumber, (part) =>
    part.startsWith('"') || isPlain(part) ? part : `"${part}"`,
  );
}

/**
 * Reads JSON with numbers as they were written: plain numbers where JavaScript writes them in the same way, and
 * `ExactNumber` elsewhere.
 * @param revive changes each value, as that of `JSON.parse` does
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseExactly(text: string, revive?: (key: string, value: unknown) => unknown): unknown {
  if (!hasExactNumbers(text)) return JSON.parse(text, revive);
  const read = (key: string, value: unknown, context?: { readonly source?: string }) => {
    const exact = exactly(value, context?.source);
    return revive === undefined ? exact : revive(key, exact);
  };
  return JSON.parse(rawJSON === undefined ? quoted(text) : text, read);
}

/** A value in which a reader of YAML has whole numbers as BigInt, with numbers as those of JSON. */
export function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return parseExactly(String(value));
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withNumbers(inner)]));
}
