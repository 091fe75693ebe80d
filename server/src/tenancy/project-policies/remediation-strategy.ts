/** Automatic reactions to drift. */
import { type AutoDriftRemediation, forgeRemediations } from '#contract/schema/enumerations.ts';

/** Whether a strategy opens pull requests. */
export function forgesNeeded(strategy: AutoDriftRemediation): boolean {
  return (forgeRemediations as readonly AutoDriftRemediation[]).includes(strategy);
}

/** Whether a strategy can apply changes, which its author has to be allowed to. */
export function appliesChanges(strategy: AutoDriftRemediation | null | undefined): boolean {
  return strategy === 'CODE_TO_CLOUD' || strategy === 'SMART_REMEDIATION';
}
