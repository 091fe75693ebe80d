/** Checks the value of a variable against its own rules. */
import type { VariableScope, VariableType } from '#contract/schema/enumerations.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';
import { matchesRegexInTurn } from '#guards/match-regex.ts';

export interface Rules {
  readonly type: VariableType;
  readonly isRequired: boolean;
  readonly regex: string | null;
  readonly schema: VariableSchema | null;
}

/**
 * Of a reference to a secret store, its text is the value: otherwise any reference would be a way around the rules of
 * outer scopes.
 * @returns why a value does not keep the rules, to follow the variable's name in a sentence; null: it does
 */
export async function valueRefusal(
  { regex, schema }: Pick<Rules, 'regex' | 'schema'>,
  value: string,
): Promise<string | null> {
  const allowed = schema?.enum;
  if (allowed && allowed.length > 0 && !allowed.includes(value))
    return `must be one of ${allowed.join(', ')}`;
  const isMatch = regex ? await matchesRegexInTurn(regex, value) : true;
  if (isMatch === null) return `cannot be compared with ${regex}: the expression takes too long on it`;
  return isMatch ? null : `must match ${regex}`;
}

/**
 * Checks the value of a variable against the rules of those that it hides: an inner scope cannot widen
 * what an outer one allows.
 * @param hidden from the outermost to the innermost
 */
export async function outerRefusal(
  hidden: readonly (Pick<Rules, 'regex' | 'schema'> & { readonly scope: VariableScope })[],
  value: string,
): Promise<string | null> {
  for (const row of hidden.toReversed()) {
    const refusal = await valueRefusal(row, value);
    if (refusal !== null) return `${refusal}: scope ${row.scope} requires it`;
  }
  return null;
}

/** Whether a value is a reference to an output of another environment, to be resolved before the run. */
export function isReference({ schema }: Pick<Rules, 'schema'>): boolean {
  return schema?.format === 'ENVIRONMENT_OUTPUT';
}

/** The same when it is used: then an empty value counts too, and a required one must be there. */
export async function unusable(rules: Rules, value: string | null): Promise<string | null> {
  if (rules.isRequired && !value) return 'needs a value: specify one in configurationChanges';
  const format = rules.schema?.format;
  if (value === '' && rules.type === 1 && (format === 'HCL' || format === 'JSON'))
    return `is empty, which is not valid ${format}: specify a value in configurationChanges, or clear its format`;
  return value === null || isReference(rules) ? null : valueRefusal(rules, value);
}
