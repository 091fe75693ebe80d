/** Resolves the variables that a deployment runs with, opened and checked. */
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { DeploymentVariable, VariableSchema } from '#contract/variables/shapes.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import type { Context } from '../../framework/context.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import { openValue, type ScopeOf, type VariableRow } from '../../rows/variables/variable-store.ts';
import { type ApprovalVariable, approvalVariableName, approvalVariableOf } from './approval-variable.ts';
import { compareNames, type ResolvedVariable, resolvePrecedence, variableKey } from './precedence.ts';
import { type LevelContents, readLevels } from './read-layers.ts';
import { isReference, outerRefusal, unusable } from './unusable-value.ts';
import { schemaView, scopeView } from './variable-view.ts';

/** A variable whose value is a reference to an output of another environment. */
export interface ReferenceVariable {
  readonly name: string;
  readonly type: VariableType;
  readonly scope: VariableScope;
  /** The reference as it was written. */
  readonly text: string;
  readonly isSensitive: boolean;
  readonly isRequired: boolean;
  /** Pattern for the value. */
  readonly regex: string | null;
  /** Requirements of the hidden variables, from the outermost to the innermost. */
  readonly outer: readonly {
    readonly scope: VariableScope;
    readonly regex: string | null;
    readonly schema: VariableSchema | null;
  }[];
}

export interface ResolvedVariables {
  /** Values in clear: sealed before they are stored. */
  readonly environment: JobVariable[];
  readonly terraform: JobVariable[];
  /** Without values: these are looked up right before the run. */
  readonly references: ReferenceVariable[];
  /** Form for readers of the deployment. */
  readonly rows: DeploymentVariable[];
  /** Why one cannot be used, as a sentence that names it and its scope; empty if all can. */
  readonly unusable: string[];
  /** The sets that had a part in it, each once, in the order of assignment. */
  readonly setIds: readonly string[];
  /** ENVARIUM_REQUIRES_APPROVAL. */
  readonly approval: ApprovalVariable;
}

const approvalKey = variableKey({ name: approvalVariableName, type: 0 });

function storedRow(row: VariableRow, value: string | null): DeploymentVariable {
  return {
    id: row.id,
    name: row.name,
    ...scopeView(row),
    type: row.type,
    isSensitive: row.is_sensitive,
    userId: row.user_id,
    updatedAt: row.updated_at.toISOString(),
    ...(value === null ? {} : { value: row.is_sensitive ? sensitiveMask : value }),
    schema: schemaView(row.schema),
    ...(row.project_id ? { projectId: row.project_id } : {}),
  };
}

function jobVariable(row: VariableRow, value: string): JobVariable {
  const format = row.schema?.format;
  return {
    name: row.name,
    value,
    isSensitive: row.is_sensitive,
    scope: row.scope,
    ...(format === 'HCL' || format === 'JSON' ? { format } : {}),
  };
}

function referenceVariable(
  { winner, hidden, isRequired }: ResolvedVariable<VariableRow>,
  text: string,
): ReferenceVariable {
  const { name, type, scope, is_sensitive: isSensitive, regex } = winner;
  const outer = hidden.map((row) => ({ scope: row.scope, regex: row.regex, schema: row.schema }));
  return { name, type, scope, text, isSensitive, isRequired, regex, outer };
}

/** Why the value of a variable cannot be used, by its own rules and those of the variables that it hides. */
async function refusalOf(
  { winner, hidden, isRequired }: ResolvedVariable<VariableRow>,
  value: string | null,
): Promise<string | null> {
  const { name, type, regex, schema, scope } = winner;
  const own = await unusable({ type, isRequired, regex, schema }, value);
  if (own !== null) return `Variable "${name}" of scope ${scope} ${own}`;
  if (value === null || isReference(winner)) return null;
  const outer = await outerRefusal(hidden, value);
  return outer && `Variable "${name}" of scope ${scope} ${outer}`;
}

/** Of the first one only: a regular expression can take long. */
async function firstRefusal(
  opened: readonly { readonly resolved: ResolvedVariable<VariableRow>; readonly value: string | null }[],
): Promise<string[]> {
  for (const { resolved, value } of opened) {
    const refusal = await refusalOf(resolved, value);
    if (refusal !== null) return [refusal];
  }
  return [];
}

/**
 * @param levels scopes from the outermost to the innermost
 * @returns the variables that a run gets, sorted by name
 */
export async function resolveVariables(
  context: Context,
  levels: readonly ScopeOf[],
): Promise<ResolvedVariables> {
  return resolvedOf(context, await readLevels(context.db, levels));
}

/** @param contents of the levels from the outermost to the innermost */
export async function resolvedOf(
  context: Context,
  { layers, setIds }: LevelContents,
): Promise<ResolvedVariables> {
  const resolved = resolvePrecedence(layers);
  const opened = [...resolved.values()]
    .map((each) => ({ resolved: each, row: each.winner, value: openValue(context, each.winner) }))
    .toSorted((one, other) => compareNames(one.row, other.row));
  // The text of a reference is never the value that the tool should get.
  const literals = opened.filter(
    (each): each is (typeof opened)[number] & { value: string } =>
      each.value !== null && !isReference(each.row),
  );
  return {
    environment: literals
      .filter((each) => each.row.type === 0)
      .map((each) => jobVariable(each.row, each.value)),
    terraform: literals
      .filter((each) => each.row.type === 1)
      .map((each) => jobVariable(each.row, each.value)),
    references: opened.flatMap(({ resolved: each, value }) =>
      value && isReference(each.winner) ? [referenceVariable(each, value)] : [],
    ),
    rows: opened.map((each) => storedRow(each.row, each.value)),
    unusable: await firstRefusal(opened),
    setIds,
    approval: await approvalVariableOf(context, resolved.get(approvalKey)),
  };
}
