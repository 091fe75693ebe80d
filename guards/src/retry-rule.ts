/** The retry settings of a template: how often a failed apply is retried, and after which failures. */

export interface RetryRule {
  readonly times?: number | null;
  readonly errorRegex?: string | null;
}

export interface RetryRules {
  readonly onDeploy?: RetryRule | null;
  readonly onDestroy?: RetryRule | null;
}

/** Maximum length of an expression. */
const longestRegex = 1000;

/**
 * Why retry settings cannot be used.
 * @returns the setting's place below `retry` and the reason; null if there is none
 */
export function retryRefusal(retry: RetryRules): { readonly field: string; readonly reason: string } | null {
  for (const event of ['onDeploy', 'onDestroy'] as const) {
    const regex = retry[event]?.errorRegex;
    if (!regex) continue;
    const field = `${event}.errorRegex`;
    if (regex.length > longestRegex)
      return { field, reason: `must not be longer than ${longestRegex} characters` };
    try {
      new RegExp(regex);
    } catch (error) {
      return { field, reason: `is not a valid regular expression: ${(error as Error).message}` };
    }
  }
  return null;
}
