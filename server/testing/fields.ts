/** Single fields of lists, as assertions compare them. */

/** The values of a field, row by row; of a list that is absent, nothing. */
export function fieldOf<Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Row[Field][];
export function fieldOf<Row, Field extends keyof Row>(
  rows: readonly Row[] | undefined,
  field: Field,
): Row[Field][] | undefined;
export function fieldOf<Row>(rows: readonly Row[] | undefined, field: keyof Row): unknown[] | undefined {
  return rows?.map((row) => row[field]);
}

type Several<Row> = readonly (keyof Row)[];

/** The values of several fields, row by row, in this order; of a list that is absent, nothing. */
export function fieldsOf<Row>(rows: readonly Row[], ...fields: Several<Row>): unknown[][];
export function fieldsOf<Row>(
  rows: readonly Row[] | undefined,
  ...fields: Several<Row>
): unknown[][] | undefined;
export function fieldsOf<Row>(
  rows: readonly Row[] | undefined,
  ...fields: Several<Row>
): unknown[][] | undefined {
  return rows?.map((row) => fields.map((field) => row[field]));
}
