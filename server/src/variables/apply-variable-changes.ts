/** Writes the variable changes of a request into one scope. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { ActorContext } from '../context.ts';
import { badField } from '../http/errors.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import { guardApprovalVariable } from './approval-variable.ts';
import { checkVariable } from './check-variable.ts';
import {
  deleteVariable,
  insertVariable,
  listVariables,
  listVariablesOf,
  openValue,
  type ScopeOf,
  updateVariable,
  type VariableRow,
  type VariableValues,
} from './variable-store.ts';

interface Home extends ScopeOf {
  readonly organizationId: string;
  readonly projectId: string | null;
  /** Outer scopes whose variables hold here too. */
  readonly inherits: readonly ScopeOf[];
}

/** @param outer the inherited variable that a new one overrides */
function valuesOf(
  change: VariableChange,
  before: { row: VariableRow; value: string | null } | undefined,
  outer: VariableRow | undefined,
): VariableValues {
  const isSensitive = change.isSensitive ?? before?.row.is_sensitive ?? outer?.is_sensitive ?? false;
  const isMaskBack = before?.row.is_sensitive === true && change.value === sensitiveMask;
  return {
    name: change.name ?? before?.row.name ?? outer?.name ?? '',
    type: (change.type ?? before?.row.type ?? outer?.type ?? 0) as VariableType,
    value: isMaskBack ? before.value : (change.value ?? before?.value ?? null),
    isSensitive,
    isReadonly: change.isReadonly ?? before?.row.is_readonly ?? false,
    isRequired: change.isRequired ?? before?.row.is_required ?? false,
    isOutput: change.isOutput ?? before?.row.is_output ?? null,
    regex: change.regex ?? before?.row.regex ?? outer?.regex ?? null,
    schema: change.schema ?? before?.row.schema ?? outer?.schema ?? null,
    description: change.description ?? before?.row.description ?? null,
  };
}

/** A mask is not a value, and a hidden value is never shown by removing the mask: that takes a new value. */
function checkMask(
  change: VariableChange,
  values: VariableValues,
  row: VariableRow | undefined,
  field: string,
): void {
  const isUnsaid = change.value === undefined || change.value === sensitiveMask;
  if (row?.is_sensitive && change.isSensitive === false && isUnsaid && row.sealed_value !== null)
    throw badField(
      `${field}.value`,
      `of "${row.name}" must be sent again when a variable stops being sensitive`,
    );
  if (!row && values.isSensitive && change.value === sensitiveMask)
    throw badField(
      `${field}.value`,
      `of "${values.name}" is the placeholder for a hidden value; send the real value`,
    );
}

/** A new name or type must be free. */
function checkIdentity(
  values: VariableValues,
  row: VariableRow | undefined,
  rows: readonly VariableRow[],
  field: string,
): void {
  const isTaken = rows.some(
    (each) => each.id !== row?.id && each.name === values.name && each.type === values.type,
  );
  if (isTaken)
    throw badField(`${field}.name`, `"${values.name}" is the name of another variable of the same type`);
}

/**
 * The row that a change refers to: by id, else by name and type. An id of an outer scope means an override
 * here, never a change there.
 * @returns the row of this scope, and the inherited one that the id belongs to
 * @throws Refusal 400 for an id that belongs to neither
 */
async function rowsOf(
  context: ActorContext,
  home: Home,
  change: VariableChange,
  rows: readonly VariableRow[],
  field: string,
): Promise<{ row?: VariableRow; outer?: VariableRow }> {
  const { id } = change;
  const own = rows.find((row) => row.id === id);
  if (own) return { row: own };
  const outer = id
    ? (await listVariablesOf(context.db, home.inherits)).find((row) => row.id === id)
    : undefined;
  if (id && !outer)
    throw badField(
      `${field}.id`,
      'does not match a variable of this environment or of a scope it inherits from',
    );
  const name = change.name ?? outer?.name;
  const type = change.type ?? outer?.type ?? 0;
  return { row: rows.find((row) => row.name === name && row.type === type), ...(outer ? { outer } : {}) };
}

/**
 * Creates, updates and removes variables of a scope, all or none.
 * @param fields location of each change in the request, as `body.configurationChanges.0`
 * @throws Refusal that names the field of the first change that cannot be stored
 */
export async function applyVariableChanges(
  context: ActorContext,
  home: Home,
  changes: readonly VariableChange[],
  fields: readonly string[],
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    const at = fields[index] ?? 'body';
    const rows = await listVariables(context.db, home);
    const { row, outer } = await rowsOf(context, home, change, rows, at);
    if (change.toDelete) {
      if (row) {
        guardApprovalVariable(context.actor, home.organizationId, { ...row, value: null }, at);
        await deleteVariable(context.db, row.id);
      }
      continue;
    }
    const values = valuesOf(change, row && { row, value: openValue(context, row) }, outer);
    if (values.name === '') throw badField(`${at}.name`, 'is required for a new variable');
    checkMask(change, values, row, at);
    for (const each of [...(row && row.name !== values.name ? [{ ...row, value: null }] : []), values])
      guardApprovalVariable(context.actor, home.organizationId, each, at);
    checkIdentity(values, row, rows, at);
    await checkVariable(values, at);
    if (row) await updateVariable(context.db, context, row.id, context.actor.userId, values);
    else await insertVariable(context.db, context, { ...home, userId: context.actor.userId }, values);
  }
}
