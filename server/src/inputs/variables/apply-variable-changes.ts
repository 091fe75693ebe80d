/** Writes the variable changes of a request into one scope. */
import type { VariableType } from '#contract/schema/enumerations.ts';
import { clearedVariable, type VariableChange } from '#contract/variables/shapes.ts';
import { toolFacts } from '#protocol/tools/index.ts';
import type { ToolFacts } from '#protocol/tools/tool.ts';
import { type Changes, changesOf, sealedFingerprint } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { badField, conflict, pointerTo } from '../../ground/errors.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import type { ProposedAssignments } from '../../rows/configuration-sets/configuration-set-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';
import {
  openValue,
  type VariableRow,
  type VariableValues,
  variableRow,
} from '../../rows/variables/variable-store.ts';
import { approvalVariableName, guardApprovalVariable } from './approval-variable.ts';
import { checkVariable } from './check-variable.ts';
import { entityOfScope, entityWords } from './entity-of-scope.ts';
import type { VariableLevels } from './levels.ts';
import { checkOutputReference } from './output-reference.ts';
import { ScopeRows } from './scope-rows.ts';
import { WrittenVariables } from './written-variables.ts';

/** @param outer the inherited variable that a new one overrides */
function valuesOf(
  sent: VariableChange,
  before: { row: VariableRow; value: string | null } | undefined,
  outer: VariableRow | undefined,
): VariableValues {
  const cleared = (before ? (sent.clears ?? []) : []).map((name) => [name, clearedVariable[name]]);
  const change: VariableChange = { ...sent, ...Object.fromEntries(cleared) };
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
    description: change.description ?? (before ? before.row.description : (outer?.description ?? null)),
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
 * @returns the row of this scope, and the inherited one that it overrides
 * @throws Refusal 400 for an id that belongs to neither
 */
function rowsOf(
  scope: ScopeRows,
  home: VariableLevels,
  change: VariableChange,
  field: string,
): { row?: VariableRow; outer?: VariableRow } {
  const id = change.id?.toLowerCase();
  const own = id ? scope.byId(id) : undefined;
  const named = id ? scope.inherited(id) : undefined;
  if (id && !own && !named && !change.isCopy)
    throw badField(
      `${field}.id`,
      `does not match a variable of this ${entityWords(home.scope)} or of a scope it inherits from`,
    );
  const [name, type] = [change.name ?? (own ?? named)?.name ?? '', change.type ?? (own ?? named)?.type ?? 0];
  const row = own ?? scope.named(name, type);
  const outer = named ?? scope.inheritedAs(name, type)?.winner;
  return { ...(row ? { row } : {}), ...(outer ? { outer } : {}) };
}

/** Whether a copied row says what the new scope inherits from the variable with its id. */
function isInherited(
  context: ActorContext,
  { isCopy, id, value }: VariableChange,
  { row, outer }: ReturnType<typeof rowsOf>,
): boolean {
  if (!isCopy || row || !outer || outer.id !== id?.toLowerCase()) return false;
  return value === undefined || value === (outer.is_sensitive ? sensitiveMask : openValue(context, outer));
}

/** @throws Refusal 409 for a variable that an outer scope does not allow to override */
function checkReadOnly(
  { name, type }: VariableValues,
  scope: ScopeRows,
  home: VariableLevels,
  at: string,
): void {
  const winner = scope.inheritedAs(name, type)?.winner;
  if (winner?.is_readonly)
    throw conflict(
      `${pointerTo(at)}: variable "${name}" is read-only in scope ${winner.scope}` +
        `${winner.scope === 'GLOBAL' ? '' : ` (${winner.scope_id})`} and cannot be set in scope ${home.scope}`,
    );
}

/** Changes of a request to a scope, for the audit trail: names and fingerprints, never values. */
interface AppliedChanges extends Readonly<Record<'created' | 'updated' | 'deleted', string[]>> {
  readonly changes: [variable: Pick<VariableRow, 'name' | 'type'>, changes: Changes][];
}

/** A value may be a secret that was not marked, and the trail can never be corrected. */
function audited(
  context: ActorContext,
  { scopeId }: VariableLevels,
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
  home: VariableLevels,
  { changes }: AppliedChanges,
  before: VariableRow | undefined,
  after: VariableRow | undefined,
): void {
  const row = after ?? before;
  if (!row) return;
  const view = (row: VariableRow | undefined) =>
    row ? audited(context, home, row, () => openValue(context, row)) : null;
  changes.push([row, changesOf(view(before), view(after))]);
}

/** By name; variables of one name that have different types, by both. */
function sidesOf({ changes }: AppliedChanges): Changes {
  const rows = Map.groupBy(changes, ([{ name }]) => name);
  const keyOf = ({ name, type }: Pick<VariableRow, 'name' | 'type'>) =>
    rows.get(name)?.some(([other]) => other.type !== type) ? `${name} (type ${type})` : name;
  const side = (which: keyof Changes) =>
    Object.fromEntries(changes.flatMap(([row, each]) => (each[which] ? [[keyOf(row), each[which]]] : [])));
  return { before: side('before'), after: side('after') };
}

/** Changes of one scope that are being made. */
interface Applying {
  readonly home: VariableLevels;
  readonly scope: ScopeRows;
  /** Author of the changes to variables. */
  readonly userId: string;
  readonly done: AppliedChanges;
  readonly written: WrittenVariables;
}

function isSame(context: ActorContext, row: VariableRow, { name, type, value }: VariableValues): boolean {
  return row.name === name && row.type === type && openValue(context, row) === value;
}

/** @returns the row as it is now, or as it was if it is deleted; undefined where there was none to delete */
async function applyChange(
  context: ActorContext,
  { home, scope, userId, done, written }: Applying,
  change: VariableChange,
  at: string,
): Promise<VariableRow | undefined> {
  const found = rowsOf(scope, home, change, at);
  const { row, outer } = found;
  if (change.toDelete) {
    if (!row) return undefined;
    await guardApprovalVariable(context, home, { ...row, value: null }, undefined, at);
    scope.remove(row);
    done.deleted.push(row.name);
    noteChange(context, home, done, row, undefined);
    return row;
  }
  if (isInherited(context, change, found)) return undefined;
  const values = valuesOf(change, row && { row, value: openValue(context, row) }, outer);
  if (values.name === '') throw badField(`${at}.name`, 'is required for a new variable');
  written.note(values, row?.id, at);
  checkMask(change, values, row, at);
  const inherited = scope.inheritedAs(values.name, values.type);
  const isApprovalKept =
    row !== undefined && values.name === approvalVariableName && isSame(context, row, values);
  for (const each of [...(row && row.name !== values.name ? [{ ...row, value: null }] : []), values])
    if (!isApprovalKept) await guardApprovalVariable(context, home, each, inherited, at);
  checkIdentity(values, row, scope, at);
  checkReadOnly(values, scope, home, at);
  const { winner, hidden } = inherited ?? {};
  const hides = [...(hidden ?? []), ...(winner ? [winner] : [])];
  checkOutputReference(values, home.scope, at);
  await checkVariable(values, { scope: home.scope, hides, tool: () => toolOf(context.db, home) }, at);
  // A request that repeats the value has not set it: what it lifts depends on the rights of the person who did.
  const saved = variableRow(context, home, values, isApprovalKept ? row.user_id : userId, row);
  await scope.save(saved, row);
  done[row ? 'updated' : 'created'].push(values.name);
  noteChange(context, home, done, row, saved);
  return saved;
}

/** The tool of the template that a scope belongs to; undefined for one of several templates. */
async function toolOf(
  db: Connection,
  { scope, scopeId, inherits }: VariableLevels,
): Promise<ToolFacts | undefined> {
  const template = [...inherits, { scope, scopeId }].findLast((each) => each.scope === 'BLUEPRINT');
  const row = template && (await getTemplateRow(db, template.scopeId));
  return row && toolFacts(row.type);
}

async function applyEach(
  context: ActorContext,
  target: Omit<Applying, 'written'>,
  changes: readonly VariableChange[],
  fields: readonly string[],
): Promise<(VariableRow | undefined)[]> {
  const applying = { ...target, written: new WrittenVariables() };
  const rows: (VariableRow | undefined)[] = [];
  for (const [index, change] of changes.entries())
    rows.push(await applyChange(context, applying, change, fields[index] ?? 'body'));
  await applying.scope.flush();
  return rows;
}

function nothingDone(): AppliedChanges {
  return { created: [], updated: [], deleted: [], changes: [] };
}

/**
 * Creates, updates and removes variables of a scope, all or none.
 * @param fields location of each change in the request, as `body.configurationChanges.0`
 * @param proposedBy id of the user who proposed them, if the caller approves what another one proposed
 * @returns the row of each change: as it is now, or as it was if it is deleted
 * @throws Refusal that names the field of the first change that cannot be stored
 */
export async function applyVariableChanges(
  context: ActorContext,
  home: VariableLevels,
  changes: readonly VariableChange[],
  fields: readonly string[],
  proposedBy?: string,
): Promise<(VariableRow | undefined)[]> {
  if (changes.length === 0) return [];
  const scope = await ScopeRows.read(context.db, home);
  const done = nothingDone();
  const userId = proposedBy ?? context.actor.userId;
  const rows = await applyEach(context, { home, scope, userId, done }, changes, fields);
  const { created, updated, deleted } = done;
  if ([created, updated, deleted].every((names) => names.length === 0)) return rows;
  await recordAudit(context, {
    organizationId: home.organizationId,
    projectId: home.projectId,
    action: 'variables.changed',
    entity: entityOfScope[home.scope],
    entityId: home.scopeId,
    details: { created, updated, deleted, ...(proposedBy === undefined ? {} : { proposedBy }) },
    ...sidesOf(done),
  });
  return rows;
}

/** The variables of a scope as changes would leave them, of which nothing is stored. */
export interface TriedChanges {
  readonly kept: readonly VariableRow[];
  readonly changed: readonly VariableRow[];
}

/**
 * Result of `applyVariableChanges`, with the same checks.
 * @param assignments changes of assigned sets as if they were stored
 * @throws Refusal as it does
 */
export async function tryVariableChanges(
  context: ActorContext,
  home: VariableLevels,
  changes: readonly VariableChange[],
  fields: readonly string[],
  assignments?: ProposedAssignments,
): Promise<TriedChanges> {
  const scope = await ScopeRows.read(context.db, home, { assignments });
  const { userId } = context.actor;
  await applyEach(context, { home, scope, userId, done: nothingDone() }, changes, fields);
  return scope.tried();
}
