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
  openValue,
  type ScopeOf,
  updateVariable,
  type VariableRow,
  type VariableValues,
} from './variable-store.ts';

interface Home extends ScopeOf {
  readonly organizationId: string;
  readonly projectId: string | null;
}

function valuesOf(
  change: VariableChange,
  before: { row: VariableRow; value: string | null } | undefined,
): VariableValues {
  const isSensitive = change.isSensitive ?? before?.row.is_sensitive ?? false;
  const isMaskBack = before?.row.is_sensitive === true && change.value === sensitiveMask;
  return {
    name: change.name ?? before?.row.name ?? '',
    type: (change.type ?? before?.row.type ?? 0) as VariableType,
    value: isMaskBack ? before.value : (change.value ?? before?.value ?? null),
    isSensitive,
    isReadonly: change.isReadonly ?? before?.row.is_readonly ?? false,
    isRequired: change.isRequired ?? before?.row.is_required ?? false,
    isOutput: change.isOutput ?? before?.row.is_output ?? null,
    regex: change.regex ?? before?.row.regex ?? null,
    schema: change.schema ?? before?.row.schema ?? null,
    description: change.description ?? before?.row.description ?? null,
  };
}

/** A mask is no value; and what was hidden is not shown by taking the mask off: that takes a new value. */
function checkMask(change: VariableChange, row: VariableRow | undefined, field: string): void {
  const isUnsaid = change.value === undefined || change.value === sensitiveMask;
  if (row?.is_sensitive && change.isSensitive === false && isUnsaid && row.sealed_value !== null)
    throw badField(
      `${field}.value`,
      `of "${row.name}" must be sent anew: the variable is no longer to be sensitive`,
    );
  if (!row && change.isSensitive && change.value === sensitiveMask)
    throw badField(
      `${field}.value`,
      `of "${change.name}" is the mask of a sensitive value: send the value itself`,
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
    throw badField(`${field}.name`, `"${values.name}" is that of another variable of the same type`);
}

/**
 * The row that a change speaks of: by id, else by name and type. An id of an outer scope means an override
 * here.
 */
function rowOf(change: VariableChange, rows: readonly VariableRow[]): VariableRow | undefined {
  const byId = change.id === undefined ? undefined : rows.find((row) => row.id === change.id);
  return byId ?? rows.find((row) => row.name === change.name && row.type === (change.type ?? 0));
}

/**
 * Creates, updates and removes variables of a scope, all or none.
 * @param field where the changes stand in the request, as `body.configurationChanges`
 * @throws Refusal that names the field of the first change that cannot be stored
 */
export async function applyVariableChanges(
  context: ActorContext,
  home: Home,
  changes: readonly VariableChange[],
  field: string,
): Promise<void> {
  for (const [index, change] of changes.entries()) {
    const at = `${field}.${index}`;
    const rows = await listVariables(context.db, home);
    const row = rowOf(change, rows);
    if (change.toDelete) {
      if (row) {
        guardApprovalVariable(context.actor, home.organizationId, { ...row, value: null }, at);
        await deleteVariable(context.db, row.id);
      }
      continue;
    }
    if (!row && change.name === undefined) throw badField(`${at}.name`, 'is required for a new variable');
    const values = valuesOf(change, row && { row, value: openValue(context, row) });
    checkMask(change, row, at);
    for (const each of [...(row && row.name !== values.name ? [{ ...row, value: null }] : []), values])
      guardApprovalVariable(context.actor, home.organizationId, each, at);
    checkIdentity(values, row, rows, at);
    await checkVariable(values, at);
    if (row) await updateVariable(context.db, context, row.id, context.actor.userId, values);
    else await insertVariable(context.db, context, { ...home, userId: context.actor.userId }, values);
  }
}
