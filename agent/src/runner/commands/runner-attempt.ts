/** An attempt whose work folder is ready. */
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { StateReading } from '../../drivers/interface/driver.ts';
import type { ProviderAccess } from '../../providers/provider-access.ts';

export interface RunnerAttempt extends AttemptContext {
  /** Source of the tool's providers; null if the run's own configuration determines that. */
  readonly providers: ProviderAccess | null;
}

/** The facts about a state that the outcome contains. */
export function stateFacts(job: Pick<Job, 'type'>, reading: StateReading): Partial<Outcome> {
  // The tool's outputs are read separately if the state is encrypted; a destroy leaves none.
  if (reading.isEncrypted === true && job.type !== 'destroy') return {};
  return {
    outputs: reading.outputs,
    resources: reading.resources,
    resourceCount: reading.resourceCount,
    stateFileHash: reading.hash,
  };
}
