/**
 * A part of a request with a value at a place; what is on the way is created where it does not exist.
 * @param path names of fields, and `0` for the first element of an array
 */
export function withValue(part: unknown, [head = '', ...rest]: readonly string[], value: unknown): unknown {
  if (head === '') return value;
  if (head === '0') return [withValue((part as unknown[] | undefined)?.[0], rest, value)];
  const fields = (part ?? {}) as Readonly<Record<string, unknown>>;
  return { ...fields, [head]: withValue(fields[head], rest, value) };
}
