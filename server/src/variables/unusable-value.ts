/** What a variable's own rules say about its value. */
import type { VariableSchema } from '#contract/variables/shapes.ts';
import { matchesRegex } from '#guards/match-regex.ts';

export interface Rules {
  readonly name: string;
  readonly isRequired: boolean;
  readonly regex: string | null;
  readonly schema: VariableSchema | null;
}

/**
 * @returns why a value does not keep the rules, to follow the variable's name in a sentence; null: it does
 */
export function valueRefusal(
  { regex, schema }: Pick<Rules, 'regex' | 'schema'>,
  value: string,
): string | null {
  const allowed = schema?.enum;
  if (allowed && allowed.length > 0 && !allowed.includes(value))
    return `must be one of ${allowed.join(', ')}`;
  const isMatch = regex ? matchesRegex(regex, value) : true;
  if (isMatch === null) return `cannot be compared with ${regex}: the expression takes too long on it`;
  return isMatch ? null : `must match ${regex}`;
}

/** Whether a value is a reference to an output of another environment, to be resolved before the run. */
export function isReference({ schema }: Pick<Rules, 'schema'>): boolean {
  return schema?.format === 'ENVIRONMENT_OUTPUT';
}

/** The same when it is used: then an empty value counts too, and a required one must be there. */
export function unusable(rules: Rules, value: string | null): string | null {
  if (rules.isRequired && !value) return 'needs a value: specify one in configurationChanges';
  if (value && isReference(rules))
    return 'refers to an output of another environment (ENVIRONMENT_OUTPUT), which this version cannot resolve';
  return value === null ? null : valueRefusal(rules, value);
}
