/** What a variable's own rules say about its value. */
import type { VariableSchema } from '../database/stored.ts';
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

/** The same when it is used: then an empty value is one too, and one that is needed must be there. */
export function unusable(rules: Rules, value: string | null): string | null {
  if (rules.isRequired && !value) return 'needs a value: give one in configurationChanges';
  return value === null ? null : valueRefusal(rules, value);
}
