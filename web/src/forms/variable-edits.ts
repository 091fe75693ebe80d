/** Rows of variables while they are edited: what code and scopes say at the moment, with what was typed. Pure. */
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { type Here, isChanged, rowsOf, type VariableRow } from './variables/rows.ts';

const typed = [
  'isDeleted',
  'value',
  'description',
  'isSensitive',
  'isRequired',
  'isReadonly',
  'regex',
] as const;

function withEdit(row: VariableRow, edit: VariableRow | undefined): VariableRow {
  if (edit === undefined) return row;
  const fields = Object.fromEntries(typed.map((field) => [field, edit[field]]));
  return { ...row, ...fields, format: edit.format, choices: edit.choices, isText: edit.isText ?? false };
}

/**
 * The rows to edit. Edits stay with their variable when code or scopes change; those of a variable that is gone
 * stay as variables of the place, so that nothing that was typed is lost.
 * @param here the place that is edited
 */
export function rowsWith(
  definitions: readonly RepositoryVariable[],
  variables: readonly Variable[],
  edits: readonly VariableRow[],
  here: Here,
): VariableRow[] {
  const rows = rowsOf(definitions, variables, here);
  const known = new Set(rows.map(({ key }) => key));
  const byKey = new Map(edits.map((edit) => [edit.key, edit]));
  const others = edits.filter(({ key, isDeleted }) => !known.has(key) && !isDeleted);
  return [
    ...rows.map((row) => withEdit(row, byKey.get(row.key))),
    ...others.map(({ before: _, stored: _stored, ...row }) => ({ ...row, isOwn: true })),
  ];
}

/** What has to be kept of the rows. */
export function editsOf(rows: readonly VariableRow[]): VariableRow[] {
  return rows.filter(isChanged);
}

/** Variables that must have a value and have none. */
export function missingOf(rows: readonly VariableRow[]): VariableRow[] {
  return rows.filter(({ isRequired, value }) => isRequired && value === '');
}
