/** What can be done about drift without a person, and what cannot be yet. */
import type { AutoDriftRemediation } from '#contract/schema/enumerations.ts';
import { badField } from '../http/errors.ts';

/** Whether a strategy changes code in a repository. */
export function forgesNeeded(strategy: AutoDriftRemediation): boolean {
  return strategy === 'CLOUD_TO_CODE' || strategy === 'SMART_REMEDIATION';
}

/**
 * @param stored what is there already: a client that sends back what it has read is not refused
 * @param field location in the request, as `body.autoDriftRemediation`
 * @throws Refusal 400 for a strategy that opens pull requests
 */
export function checkStrategy(
  strategy: AutoDriftRemediation | null | undefined,
  stored: AutoDriftRemediation | null | undefined,
  field: string,
): void {
  if (!strategy || strategy === stored || !forgesNeeded(strategy)) return;
  throw badField(
    field,
    `${strategy} opens pull requests, which is not possible yet: use CODE_TO_CLOUD or DISABLED`,
  );
}
