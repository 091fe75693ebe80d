/** Replies whose JSON is made from texts, without parsing what the database has as JSON already; and such texts in memory. */
import { entityTag } from '../changes/entity-tag.ts';

declare const shape: unique symbol;

/** A reply that is JSON text already. @template T what it is the text of */
export class JsonText<T> {
  readonly text: string;
  declare readonly [shape]: T;
  #bytes: Buffer | undefined;
  #tag: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** As it is sent. Encoded once: the same reply can be sent many times. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.text));
  }

  /** The version of the bytes (`ETag`), hashed once. */
  get tag(): string {
    return (this.#tag ??= entityTag(this.bytes));
  }
}

/** The list of elements whose texts are known. */
export function jsonList<T>(elements: readonly string[]): JsonText<T[]> {
  return new JsonText(`[${elements.join(',')}]`);
}

/**
 * The text of an object with more fields.
 * @param object JSON of an object with at least one field, and none of `fields`
 * @param fields JSON texts by name; fields that are null or undefined are left out
 */
export function withJsonFields(
  object: string,
  fields: Readonly<Record<string, string | null | undefined>>,
): string {
  let text = object.slice(0, -1);
  for (const [name, field] of Object.entries(fields))
    if (field !== null && field !== undefined) text += `,"${name}":${field}`;
  return `${text}}`;
}

/** Total size; a text larger than this part of it is not kept. */
const mostCharacters = 8_000_000;
const largestPart = 1 / 20;

export interface KeptText {
  /** Changes with everything that the text shows. */
  readonly version: string;
  readonly text: string;
}

/**
 * Elements of lists as JSON, kept in memory: most of them are the same at the next request, and making them takes
 * most of it. A text is used only for the version that it was made from.
 */
export class KeptTexts<Kept extends KeptText = KeptText> {
  readonly #texts = new Map<string, Kept>();
  readonly #most: number;
  #characters = 0;

  /** @param most characters that are kept */
  constructor(most: number = mostCharacters) {
    this.#most = most;
  }

  find(key: string, version: string): Kept | undefined {
    const kept = this.#texts.get(key);
    if (kept?.version !== version) return undefined;
    // Those that were not used for longest come first.
    this.#texts.delete(key);
    this.#texts.set(key, kept);
    return kept;
  }

  keep(key: string, kept: Kept): void {
    this.forget(key);
    if (kept.text.length > this.#most * largestPart) return;
    this.#texts.set(key, kept);
    this.#characters += kept.text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= this.#most) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    this.#characters -= this.#texts.get(key)?.text.length ?? 0;
    this.#texts.delete(key);
  }
}
