/** A variable as replies have it. */
import type { HiddenVariable, Variable, VariableSchema } from '#contract/variables/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import { openValue, type VariableRow } from '../../rows/variables/variable-store.ts';

/**
 * Clients read type and format without looking whether they are there; a `type` next to HCL or JSON makes them
 * ignore the format.
 */
export function schemaView(schema: VariableSchema | null): VariableSchema {
  const { format, enum: choices } = schema ?? {};
  if (format === 'HCL' || format === 'JSON') return { format };
  return {
    type: 'string',
    ...(format ? { format } : {}),
    ...(choices && choices.length > 0 ? { enum: choices } : {}),
  };
}

function valueView(context: Pick<Context, 'sealer'>, row: VariableRow): { value?: string } {
  if (row.is_sensitive) return row.sealed_value === null ? {} : { value: sensitiveMask };
  const value = openValue(context, row);
  return value === null ? {} : { value };
}

/** The organization has no id of its own as a scope. */
export function scopeView({
  scope,
  scope_id,
}: Pick<VariableRow, 'scope' | 'scope_id'>): Pick<Variable, 'scope' | 'scopeId'> {
  return scope === 'GLOBAL' ? { scope } : { scope, scopeId: scope_id };
}

/** Statement of an inner variable about the one that it hides. */
export function hiddenView(context: Pick<Context, 'sealer'>, row: VariableRow): HiddenVariable {
  return {
    ...scopeView(row),
    ...valueView(context, row),
    schema: schemaView(row.schema),
    isReadonly: row.is_readonly,
    isRequired: row.is_required,
    isSensitive: row.is_sensitive,
    ...(row.regex ? { regex: row.regex } : {}),
  };
}

/** A variable as its scope has it, values that are sensitive as asterisks. */
export function variableView(context: Pick<Context, 'sealer'>, row: VariableRow): Variable {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    ...scopeView(row),
    type: row.type,
    organizationId: row.organization_id,
    ...valueView(context, row),
    userId: row.user_id,
    isSensitive: row.is_sensitive,
    isReadonly: row.is_readonly,
    isRequired: row.is_required,
    ...(row.regex ? { regex: row.regex } : {}),
    ...(row.project_id === null ? {} : { projectId: row.project_id }),
    schema: schemaView(row.schema),
    ...(row.description === null ? {} : { description: row.description }),
    ...(row.is_output === null ? {} : { isOutput: row.is_output }),
  };
}
