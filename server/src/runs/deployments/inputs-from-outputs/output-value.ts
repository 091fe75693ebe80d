/** The value of an output as the variable of a run. */
import type { OutputValue } from '#contract/deployments/plan.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { outerRefusal, valueRefusal } from '../../../inputs/variables/unusable-value.ts';
import type { PendingReference } from '../inputs/run-inputs.ts';

/** Placeholder that agents write for a secret. */
const masked = '***';

/**
 * Environment variables are text, anything else as JSON; terraform variables keep their type. Nothing in an output
 * is a reference: its value comes from another environment.
 * @returns the variable, or why its value cannot be used, to follow the output's name in a sentence
 */
export async function variableOf(
  { name, type, scope, isSensitive, isRequired, regex, outer }: PendingReference,
  { value, sensitive }: OutputValue,
): Promise<JobVariable | string> {
  const isText = typeof value === 'string';
  const json = JSON.stringify(value ?? null);
  const empty = type === 0 && (value ?? null) === null;
  const text = isText ? value : empty ? '' : json;
  if (!sensitive && json.includes(masked))
    return 'whose value contains a secret and was stored without it: set "sensitive = true" in the output';
  if (isRequired && (text === '' || (value ?? null) === null))
    return 'which is empty, and the variable is required';
  const refusal = (await valueRefusal({ regex, schema: null }, text)) ?? (await outerRefusal(outer, text));
  if (refusal !== null) return `whose value ${refusal}`;
  return {
    name,
    value: text,
    isSensitive: isSensitive || sensitive,
    isLiteral: true,
    scope,
    ...(type === 1 && !isText ? { format: 'JSON' as const } : {}),
  };
}
