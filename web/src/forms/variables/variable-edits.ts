/** Rows of variables while they are edited: what code and scopes say at the moment, with what was typed. Pure. */
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import {
  changedFields,
  differs,
  type Here,
  isChanged,
  keyOf,
  rowsOf,
  settingsOf,
  type VariableFormRow,
} from './rows.ts';

/** Edits, over the current values: the rest may be changed by others in the meantime. */
function withEdit(row: VariableFormRow, edit: VariableFormRow | undefined): VariableFormRow {
  if (edit === undefined) return row;
  const { before = edit, isDeleted, isText = false } = edit;
  const changed = changedFields(edit);
  const isOther = (field: (typeof changed)[number]) =>
    differs(row, before, field) && (isDeleted || differs(row, edit, field));
  const concerned = isDeleted ? (['value'] as const) : changed;
  return {
    ...row,
    ...Object.fromEntries(changed.map((field) => [field, edit[field]])),
    ...{ isDeleted, isText },
    isOvertaken: (edit.isOvertaken ?? false) || (row.stored !== undefined && concerned.some(isOther)),
  };
}

/**
 * The rows to edit. Edits stay with their variable when code or scopes change; those of a variable that is gone
 * stay as variables of the place, so that nothing that was typed is lost.
 * @param here the place that is edited
 */
export function rowsWith(
  definitions: readonly RepositoryVariable[],
  variables: readonly Variable[],
  edits: readonly VariableFormRow[],
  here: Here,
): VariableFormRow[] {
  const rows = rowsOf(definitions, variables, here);
  const known = new Set(rows.map(({ key }) => key));
  const byKey = new Map(edits.map((edit) => [edit.key, edit]));
  const others = edits.filter(({ key, isDeleted }) => !known.has(key) && !isDeleted);
  return [
    ...rows.map((row) => withEdit(row, byKey.get(row.key))),
    ...others.map(({ before: _, stored: _stored, ...row }) => ({ ...row, isOwn: true })),
  ];
}

/**
 * Edits that remain after a save: those made while it was in progress.
 * @param edits what has to be kept of the rows
 * @param sent the same when it was sent
 */
export function editsAfter(
  edits: readonly VariableFormRow[],
  sent: readonly VariableFormRow[],
): VariableFormRow[] {
  const sentByKey = new Map(sent.map((row) => [row.key, row]));
  return edits.flatMap((edit) => {
    const stored = sentByKey.get(edit.key);
    if (stored === undefined || keyOf(stored) !== keyOf(edit)) return [edit];
    // Only what was typed is compared: the code, read in the meantime, may describe the variable by now.
    const typed = changedFields(edit);
    const isSame =
      stored.isDeleted === edit.isDeleted && !typed.some((field) => differs(edit, stored, field));
    if (isSame || stored.isDeleted) return [];
    const before = settingsOf(stored);
    const later = Object.fromEntries(typed.map((field) => [field, edit[field]]));
    return [{ ...edit, ...before, ...later, key: keyOf(stored), before, isOvertaken: false }];
  });
}

/** Edits of the rows to keep. */
export function editsOf(rows: readonly VariableFormRow[]): VariableFormRow[] {
  return rows.filter(isChanged);
}

/** Variables that must have a value and have none. */
export function missingOf(rows: readonly VariableFormRow[]): VariableFormRow[] {
  return rows.filter(({ isRequired, value }) => isRequired && value === '');
}
