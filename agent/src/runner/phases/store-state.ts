/** The step that stores a state of ours. */
import { storeStateStep as storeStep } from '#protocol/tools/steps.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { KnownState } from '../state/spooled-states.ts';

/**
 * The step `state:store`, also of runs that failed or were stopped; tools without a state have no such step.
 * The state itself is already in the spool.
 */
export function storeState(
  attempt: AttemptContext,
  configuration: Configuration,
  state: KnownState | null,
): void {
  if (attempt.driver.state === undefined) return;
  if (configuration.context.stateFolder === null) return attempt.steps.skip(storeStep);
  attempt.events.append({ kind: 'step', step: storeStep, status: 'IN_PROGRESS' });
  const text =
    state === null
      ? 'There is no state to store.'
      : `State stored: serial ${state.serial}, lineage ${state.lineage}, ${state.resourceCount} resources, ` +
        `SHA-256 ${state.sha256}${state.isNew ? '' : ' (unchanged)'}`;
  attempt.steps.logEnd(storeStep, text);
  attempt.events.append({ kind: 'step', step: storeStep, status: 'SUCCESS' });
}
