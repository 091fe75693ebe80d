/** Replies whose JSON is made from texts, without parsing what the database has as JSON already. */
import { entityTag } from './changes/entity-tag.ts';

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
