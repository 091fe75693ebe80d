/** SQL of variables of every scope. Values are sealed one by one under their own row. */

import { type Selectable, sql } from 'kysely';
import { LruMap } from 'toad-cache';
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { isUuid } from '../entity-home.ts';
import type { Place } from '../places.ts';
import { lockById, rowById } from '../row-queries.ts';
import type { VariableTable } from '../schema.ts';

export type VariableRow = Selectable<VariableTable>;

/** Home of a variable. */
export interface ScopeOf {
  readonly scope: VariableScope;
  readonly scopeId: string;
}

/** Place of a row. */
export function scopeOf({ scope, scope_id }: Pick<VariableRow, 'scope' | 'scope_id'>): ScopeOf {
  return { scope, scopeId: scope_id };
}

export interface VariableValues {
  readonly name: string;
  readonly type: VariableType;
  readonly value: string | null;
  readonly isSensitive: boolean;
  readonly isReadonly: boolean;
  readonly isRequired: boolean;
  readonly isOutput: boolean | null;
  readonly regex: string | null;
  readonly schema: VariableSchema | null;
  readonly description: string | null;
}

function association(id: string) {
  return { table: 'variable', row: id, field: 'sealed_value' };
}

/** Opened values, with the sealed bytes that they were opened from. */
interface OpenedValue {
  readonly sealed: Buffer;
  readonly value: string;
}

/** Opening thousands of values takes longer than everything else that a list does. */
const keptValues = 20_000;
const longestKept = 4096;
const opened = new WeakMap<Context['sealer'], LruMap<OpenedValue>>();

function openSealed({ sealer }: Pick<Context, 'sealer'>, id: string, sealed: Buffer): string {
  return sealer.open(sealed, association(id)).toString('utf8');
}

/**
 * The value in clear, or null where the variable has none. Short ones that are not sensitive, which replies show
 * anyway, stay in memory.
 */
export function openValue(
  context: Pick<Context, 'sealer'>,
  row: Pick<VariableRow, 'id' | 'sealed_value' | 'is_sensitive'>,
): string | null {
  const { id, sealed_value: sealed } = row;
  if (sealed === null) return null;
  if (row.is_sensitive || sealed.length > longestKept) return openSealed(context, id, sealed);
  const kept = opened.get(context.sealer) ?? new LruMap<OpenedValue>(keptValues);
  opened.set(context.sealer, kept);
  const found = kept.get(id);
  if (found?.sealed.equals(sealed)) return found.value;
  const value = openSealed(context, id, sealed);
  // A copy: the driver's buffer may be a part of a larger one.
  kept.set(id, { sealed: Buffer.from(sealed), value });
  return value;
}

export interface VariableHome extends ScopeOf {
  readonly organizationId: string;
  readonly projectId: string | null;
}

/** Home of the variables of a scope. */
export function placeOfScope({ organizationId, projectId, scope, scopeId }: VariableHome): Place {
  const isOfEnvironment = scope === 'ENVIRONMENT' || scope === 'WORKFLOW';
  return { organizationId, projectId, environmentId: isOfEnvironment ? scopeId : null };
}

/**
 * A variable as it is to be stored.
 * @param before the row that it replaces
 * @param userId of the person who changes it
 */
export function variableRow(
  context: Context,
  home: VariableHome,
  values: VariableValues,
  userId: string,
  before?: VariableRow,
): VariableRow {
  const id = before?.id ?? context.newId();
  const now = context.now();
  return {
    id,
    organization_id: home.organizationId,
    scope: home.scope,
    scope_id: home.scopeId,
    project_id: before ? before.project_id : home.projectId,
    user_id: userId,
    name: values.name,
    type: values.type,
    sealed_value: values.value === null ? null : context.sealer.seal(values.value, association(id)),
    is_sensitive: values.isSensitive,
    is_readonly: values.isReadonly,
    is_required: values.isRequired,
    is_output: values.isOutput,
    regex: values.regex,
    schema: values.schema,
    description: values.description,
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
}

/** Stores rows, new ones and changed ones, in one statement. */
export async function saveVariables(tx: Connection, rows: readonly VariableRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx
    .insertInto('variable')
    .values(rows.map((row) => ({ ...row, schema: row.schema === null ? null : JSON.stringify(row.schema) })))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        user_id: eb.ref('excluded.user_id'),
        name: eb.ref('excluded.name'),
        type: eb.ref('excluded.type'),
        sealed_value: eb.ref('excluded.sealed_value'),
        is_sensitive: eb.ref('excluded.is_sensitive'),
        is_readonly: eb.ref('excluded.is_readonly'),
        is_required: eb.ref('excluded.is_required'),
        is_output: eb.ref('excluded.is_output'),
        regex: eb.ref('excluded.regex'),
        schema: eb.ref('excluded.schema'),
        description: eb.ref('excluded.description'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute();
}

export async function deleteVariables(tx: Connection, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .deleteFrom('variable')
    .where('id', 'in', [...ids])
    .execute();
}

export const getVariableRow = rowById('variable');

/** @param ids texts of any form. @returns those that exist, by id */
export async function getVariableRows(
  db: Connection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, VariableRow>> {
  const known = ids.filter((id) => isUuid(id));
  if (known.length === 0) return new Map();
  // One parameter: a statement has at most 65,535 of them.
  const isOne = sql<boolean>`id = any(${known}::uuid[])`;
  const rows = await db.selectFrom('variable').selectAll().where(isOne).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks a variable until the end of the transaction. */
export const lockVariableRow = lockById('variable');

/** Blocks other changes to variables of a scope until the transaction ends. */
export async function lockScope(tx: Connection, { scope, scopeId }: ScopeOf): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`variables ${scope} ${scopeId}`}, 0))`.execute(
    tx,
  );
}

function inScopes(homes: readonly ScopeOf[]) {
  const scopes = homes.map(({ scope }) => scope);
  const ids = homes.map(({ scopeId }) => scopeId);
  return sql<boolean>`(scope, scope_id) in (select * from unnest(${scopes}::text[], ${ids}::text[]))`;
}

/** Variables of several scopes at once, in no particular order. */
export async function listVariablesOf(db: Connection, homes: readonly ScopeOf[]): Promise<VariableRow[]> {
  if (homes.length === 0) return [];
  return db.selectFrom('variable').selectAll().where(inScopes(homes)).execute();
}

/**
 * Changes with every variable that is added to the scopes, changed or removed. A hash of each row is combined in any
 * order: sorting thousands of rows takes longer than everything else.
 */
export async function versionOfScopes(db: Connection, homes: readonly ScopeOf[]): Promise<string> {
  const { version } = await db
    .selectFrom('variable')
    .select(
      sql<string>`concat_ws(' ', count(*), bit_xor(uuid_hash_extended(id, xmin::text::bigint)))`.as(
        'version',
      ),
    )
    .where(inScopes(homes))
    .executeTakeFirstOrThrow();
  return version;
}

/** Variables of an environment move to another project with it. */
export async function moveVariablesToProject(
  tx: Connection,
  environmentId: string,
  projectId: string,
): Promise<void> {
  await tx
    .updateTable('variable')
    .set({ project_id: projectId })
    .where('scope', 'in', ['ENVIRONMENT', 'WORKFLOW'])
    .where('scope_id', '=', environmentId)
    .where('project_id', 'is not', null)
    .execute();
}

export async function deleteVariablesOf(
  tx: Connection,
  scope: VariableScope,
  scopeIds: readonly string[],
): Promise<void> {
  if (scopeIds.length === 0) return;
  await tx
    .deleteFrom('variable')
    .where('scope', '=', scope)
    .where('scope_id', 'in', [...scopeIds])
    .execute();
}
