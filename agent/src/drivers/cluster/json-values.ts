/** Values of JSON, as patches compare them. */

export type Fields = Readonly<Record<string, unknown>>;

/** The value of a key that a map has itself; undefined: it has none. */
export function valueAt(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** `undefined` for what is not there. */
export function typeOfJson(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}
