/** Which variables a deployment runs with: from the outermost scope to the innermost, the inner one wins. */
import type { DeploymentVariable } from '#contract/variables/shapes.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import type { Context } from '../context.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import { isReference, unusable } from './unusable-value.ts';
import { listVariablesOf, openValue, type ScopeOf, type VariableRow } from './variable-store.ts';

export interface ResolvedVariables {
  /** Values in clear: sealed before they are stored. */
  readonly environment: JobVariable[];
  readonly terraform: JobVariable[];
  /** What readers of the deployment get. */
  readonly rows: DeploymentVariable[];
  /** Why some cannot be used, each a sentence that names its variable. */
  readonly unusable: string[];
}

/**
 * One row per name and type: that of the innermost scope.
 * @param homes scopes from the outermost to the innermost
 */
export function innermost(rows: readonly VariableRow[], homes: readonly ScopeOf[]): VariableRow[] {
  const rank = new Map(homes.map((home, index) => [`${home.scope} ${home.scopeId}`, index]));
  const sorted = rows.toSorted(
    (a, b) => (rank.get(`${a.scope} ${a.scope_id}`) ?? -1) - (rank.get(`${b.scope} ${b.scope_id}`) ?? -1),
  );
  return [...new Map(sorted.map((row) => [`${row.type} ${row.name}`, row])).values()];
}

function storedRow(row: VariableRow, value: string | null): DeploymentVariable {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope,
    scopeId: row.scope_id,
    type: row.type,
    isSensitive: row.is_sensitive,
    userId: row.user_id,
    updatedAt: row.updated_at.toISOString(),
    ...(value === null ? {} : { value: row.is_sensitive ? sensitiveMask : value }),
    ...(row.schema ? { schema: row.schema } : {}),
    ...(row.project_id ? { projectId: row.project_id } : {}),
  };
}

function jobVariable(row: VariableRow, value: string): JobVariable {
  const format = row.schema?.format;
  return {
    name: row.name,
    value,
    isSensitive: row.is_sensitive,
    ...(format === 'HCL' || format === 'JSON' ? { format } : {}),
  };
}

function refusalOf(row: VariableRow, value: string | null): string[] {
  const refusal = unusable(
    { name: row.name, isRequired: row.is_required, regex: row.regex, schema: row.schema },
    value,
  );
  return refusal ? [`Variable "${row.name}" ${refusal}`] : [];
}

/** @param homes scopes from the outermost to the innermost */
export async function resolveVariables(
  context: Context,
  homes: readonly ScopeOf[],
): Promise<ResolvedVariables> {
  const rows = innermost(await listVariablesOf(context.db, homes), homes).toSorted((a, b) =>
    a.name.localeCompare(b.name),
  );
  const opened = rows.map((row) => ({ row, value: openValue(context, row) }));
  // The text of a reference is never the value that the tool should get.
  const given = opened.filter(
    (each): each is { row: VariableRow; value: string } => each.value !== null && !isReference(each.row),
  );
  return {
    environment: given.filter((each) => each.row.type === 0).map((each) => jobVariable(each.row, each.value)),
    terraform: given.filter((each) => each.row.type === 1).map((each) => jobVariable(each.row, each.value)),
    rows: opened.map((each) => storedRow(each.row, each.value)),
    unusable: opened.flatMap(({ row, value }) => refusalOf(row, value)),
  };
}
