/** Single fields of lists, as assertions compare them. */

export function fieldOf<Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Row[Field][] {
  return rows.map((row) => row[field]);
}

/** The values of these fields of each row, in this order. */
export function fieldsOf<Row>(rows: readonly Row[], ...fields: readonly (keyof Row)[]): unknown[][] {
  return rows.map((row) => fields.map((field) => row[field]));
}
