/** An attempt whose work folder is ready, and what its outcome says of a state. */
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import type { StateReading } from '../drivers/driver.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';

export interface RunnerAttempt extends AttemptContext {
  /** Where the tool's providers come from; null where the run arranges that itself. */
  readonly providers: ProviderAccess | null;
}

/** What the outcome says of a state. */
export function stateFacts(job: Pick<Job, 'type'>, reading: StateReading): Partial<Outcome> {
  // The tool reports later what it has encrypted; a destroy leaves nothing to report.
  if (reading.isEncrypted === true && job.type !== 'destroy') return {};
  return {
    outputs: reading.outputs,
    resources: reading.resources,
    resourceCount: reading.resourceCount,
    stateFileHash: reading.hash,
  };
}
