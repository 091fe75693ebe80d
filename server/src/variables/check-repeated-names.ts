/** Refuses a request that says two things about one variable. */
import type { VariableChange } from '#contract/variables/shapes.ts';
import { badField } from '../http/errors.ts';
import { variableKey } from './precedence.ts';

/**
 * @param fields location of each change in the request, as `body.configurationChanges.0`
 * @throws Refusal 400 where two changes name the same variable; deleting one and creating it again is allowed
 */
export function checkRepeatedNames(changes: readonly VariableChange[], fields: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const [index, { name, type = 0, toDelete }] of changes.entries()) {
    if (name === undefined || toDelete) continue;
    const key = variableKey({ name, type });
    const first = seen.get(key);
    const field = fields[index] ?? 'body';
    if (first !== undefined)
      throw badField(
        `${field}.name`,
        `"${name}" of type ${type} is also in /${first.replaceAll('.', '/')}: send each variable once`,
      );
    seen.set(key, field);
  }
}
