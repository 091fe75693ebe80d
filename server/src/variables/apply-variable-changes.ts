/** Writes the variable changes of a request into one scope. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import type { VariableChange } from '#contract/variables/shapes.ts';
import type { ActorContext } from '../context.ts';
import { type Changes, changesOf, sealedFingerprint } from '../audit/changes.ts';
import { recordAudit } from '../audit/record.ts';
import { badField } from '../http/errors.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import { guardApprovalVariable } from './approval-variable.ts';
import { checkVariable } from './check-variable.ts';
import { ScopeRows } from './scope-rows.ts';
import {
  openValue,
  type ScopeOf,
  type VariableHome,
  type VariableRow,
  variableRow,
  type VariableValues,
  placeOfScope,
} from './variable-store.ts';

interface Home extends VariableHome {
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
  scope: ScopeRows,
  field: string,
): void {
  const holder = scope.named(values.name, values.type);
  if (holder && holder.id !== row?.id)
    throw badField(`${field}.name`, `"${values.name}" is the name of another variable of the same type`);
}

/**
 * The row that a change refers to: by id, else by name and type. An id of an outer scope means an override
 * here, never a change there.
 * @returns the row of this scope, and the inherited one that the id belongs to
 * @throws Refusal 400 for an id that belongs to neither
 */
async function rowsOf(
  scope: ScopeRows,
  change: VariableChange,
  field: string,
): Promise<{ row?: VariableRow; outer?: VariableRow }> {
  const { id } = change;
  const own = id ? scope.byId(id) : undefined;
  if (own) return { row: own };
  const outer = id ? await scope.inherited(id) : undefined;
  if (id && !outer)
    throw badField(
      `${field}.id`,
      'does not match a variable of this environment or of a scope it inherits from',
    );
  const row = scope.named(change.name ?? outer?.name ?? '', change.type ?? outer?.type ?? 0);
  return { ...(row ? { row } : {}), ...(outer ? { outer } : {}) };
}

/** What a request did to a scope, for the audit trail: names and fingerprints, never values. */
interface Done extends Readonly<Record<'created' | 'updated' | 'deleted', string[]>> {
  readonly changes: [name: string, changes: Changes][];
}

/** A value may be a secret that nobody has marked, and the trail can never be corrected. */
function audited(
  context: ActorContext,
  { scopeId }: Home,
  values: Pick<VariableRow, 'name' | 'type' | 'is_sensitive' | 'is_readonly' | 'is_required' | 'regex'>,
  open: () => string | null,
) {
  const { name, type, is_sensitive, is_readonly, is_required, regex } = values;
  return {
    ...{ name, type, regex },
    isSensitive: is_sensitive,
    isReadonly: is_readonly,
    isRequired: is_required,
    value: sealedFingerprint(context, `variable ${name} of ${scopeId}`, open),
  };
}

function noteChange(
  context: ActorContext,
  home: Home,
  { changes }: Done,
  before: VariableRow | undefined,
  after: VariableRow | undefined,
): void {
  const view = (row: VariableRow | undefined) =>
    row ? audited(context, home, row, () => openValue(context, row)) : null;
  changes.push([(after ?? before)?.name ?? '', changesOf(view(before), view(after))]);
}

function sidesOf({ changes }: Done): Changes {
  const side = (which: keyof Changes) =>
    Object.fromEntries(changes.flatMap(([name, each]) => (each[which] ? [[name, each[which]]] : [])));
  return { before: side('before'), after: side('after') };
}

async function applyChange(
  context: ActorContext,
  home: Home,
  scope: ScopeRows,
  change: VariableChange,
  at: string,
  done: Done,
): Promise<void> {
  const { row, outer } = await rowsOf(scope, change, at);
  if (change.toDelete) {
    if (!row) return;
    guardApprovalVariable(context.actor, placeOfScope(home), { ...row, value: null }, at);
    scope.remove(row);
    done.deleted.push(row.name);
    noteChange(context, home, done, row, undefined);
    return;
  }
  const values = valuesOf(change, row && { row, value: openValue(context, row) }, outer);
  if (values.name === '') throw badField(`${at}.name`, 'is required for a new variable');
  checkMask(change, values, row, at);
  for (const each of [...(row && row.name !== values.name ? [{ ...row, value: null }] : []), values])
    guardApprovalVariable(context.actor, placeOfScope(home), each, at);
  checkIdentity(values, row, scope, at);
  await checkVariable(values, at);
  const { userId } = context.actor;
  const saved = variableRow(context, home, values, userId, row);
  await scope.save(saved, row);
  done[row ? 'updated' : 'created'].push(values.name);
  noteChange(context, home, done, row, saved);
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
  if (changes.length === 0) return;
  const scope = await ScopeRows.read(context.db, home);
  const done: Done = { created: [], updated: [], deleted: [], changes: [] };
  for (const [index, change] of changes.entries())
    await applyChange(context, home, scope, change, fields[index] ?? 'body', done);
  await scope.flush();
  const { created, updated, deleted } = done;
  if ([created, updated, deleted].every((names) => names.length === 0)) return;
  await recordAudit(context, {
    organizationId: home.organizationId,
    projectId: home.projectId,
    action: 'variables.changed',
    entity: home.scope.toLowerCase(),
    entityId: home.scopeId,
    details: { created, updated, deleted },
    ...sidesOf(done),
  });
}
