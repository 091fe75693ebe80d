/** Retries of failed runs, as forms have them. */
import type { RetrySettings } from '#contract/templates/template-body.ts';

export interface RetryValues {
  /** 0: a failure is not repeated. */
  readonly times: number;
  readonly errorRegex: string;
}

export const noRetry: RetryValues = { times: 0, errorRegex: '' };

type TemplateRetry = RetrySettings['onDeploy'];

/** Values of a rule, as the form shows them. */
export function retryValues(rule: TemplateRetry): RetryValues {
  return { times: rule?.times ?? 0, errorRegex: rule?.errorRegex ?? '' };
}

function ruleOf({ times, errorRegex }: RetryValues): TemplateRetry {
  if (times === 0) return undefined;
  return { times, ...(errorRegex.trim() === '' ? {} : { errorRegex: errorRegex.trim() }) };
}

/** Both rules as a request has them. */
export function retryBody(values: {
  readonly onDeploy: RetryValues;
  readonly onDestroy: RetryValues;
}): RetrySettings {
  const onDeploy = ruleOf(values.onDeploy);
  const onDestroy = ruleOf(values.onDestroy);
  return { ...(onDeploy ? { onDeploy } : {}), ...(onDestroy ? { onDestroy } : {}) };
}
