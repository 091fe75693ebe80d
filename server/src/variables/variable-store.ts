/** SQL of variables of every scope. Values are sealed one by one under their own row. */
import type { Place } from '../access/access.ts';
import type { Selectable } from 'kysely';
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { Connection, Context } from '../context.ts';
import type { VariableTable } from '../database/schema.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';

export type VariableRow = Selectable<VariableTable>;

/** Where a variable lives. */
export interface ScopeOf {
  readonly scope: VariableScope;
  readonly scopeId: string;
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

/** The value in clear, or null where the variable has none. */
export function openValue(
  context: Pick<Context, 'sealer'>,
  row: Pick<VariableRow, 'id' | 'sealed_value'>,
): string | null {
  return row.sealed_value === null
    ? null
    : context.sealer.open(row.sealed_value, association(row.id)).toString('utf8');
}

export interface VariableHome extends ScopeOf {
  readonly organizationId: string;
  readonly projectId: string | null;
}

/** Where the variables of a scope belong. */
export function placeOfScope({ organizationId, projectId, scope, scopeId }: VariableHome): Place {
  return { organizationId, projectId, environmentId: scope === 'ENVIRONMENT' ? scopeId : null };
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

export async function listVariables(db: Connection, home: ScopeOf): Promise<VariableRow[]> {
  return db
    .selectFrom('variable')
    .selectAll()
    .where('scope', '=', home.scope)
    .where('scope_id', '=', home.scopeId)
    .orderBy('name')
    .orderBy('type')
    .execute();
}

/** Variables of several scopes at once, in no particular order. */
export async function listVariablesOf(db: Connection, homes: readonly ScopeOf[]): Promise<VariableRow[]> {
  if (homes.length === 0) return [];
  return db
    .selectFrom('variable')
    .selectAll()
    .where((eb) =>
      eb.or(homes.map((home) => eb.and([eb('scope', '=', home.scope), eb('scope_id', '=', home.scopeId)]))),
    )
    .execute();
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
    .where('scope', '=', 'ENVIRONMENT')
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
