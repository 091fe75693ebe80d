/** Fields of lists and of requests, as tests compare and set them. */

/** The values of a field, row by row; of a list that is absent, nothing. */
export function fieldOf<Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Row[Field][];
export function fieldOf<Row, Field extends keyof Row>(
  rows: readonly Row[] | undefined,
  field: Field,
): Row[Field][] | undefined;
export function fieldOf<Row>(rows: readonly Row[] | undefined, field: keyof Row): unknown[] | undefined {
  return rows?.map((row) => row[field]);
}

type Fields<Row> = readonly (keyof Row)[];

/** The values of several fields, row by row, in this order; of a list that is absent, nothing. */
export function fieldsOf<Row>(rows: readonly Row[], ...fields: Fields<Row>): unknown[][];
export function fieldsOf<Row>(
  rows: readonly Row[] | undefined,
  ...fields: Fields<Row>
): unknown[][] | undefined;
export function fieldsOf<Row>(
  rows: readonly Row[] | undefined,
  ...fields: Fields<Row>
): unknown[][] | undefined {
  return rows?.map((row) => fields.map((field) => row[field]));
}

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
