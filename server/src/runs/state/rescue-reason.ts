/** Why a state that a run brought does not become the current one. Pure. */

import type { StateVersionRow } from '../../rows/state/state-store.ts';
import type { StateFacts } from './files/read-state.ts';

/** Reasons in the audit trail. */
export type RescueReason =
  /** Only a plan of an environment without a state brings one, by moving it into ours. */
  | 'planOfEnvironmentWithState'
  /** A newer attempt has replaced the one that the state comes from. */
  | 'attemptReplaced'
  /** The attempt was never allowed to change resources. */
  | 'attemptWithoutMark'
  /** A newer attempt was allowed to change resources. */
  | 'newerAttemptMarked'
  /** It is based on another version than the current one. */
  | 'notBasedOnCurrent'
  /** A run or a tool already works on the current version. */
  | 'stateHeld'
  /** Its lineage is that of another environment. */
  | 'lineageOfOtherEnvironment';

export interface ShippedFacts {
  /** The state was moved into ours before anything was applied. */
  readonly isOfPlan: boolean;
  readonly isNewestAttempt: boolean;
  readonly hasMark: boolean;
  readonly isNewerAttemptMarked: boolean;
  readonly isHeld: boolean;
  readonly isOfOtherEnvironment: boolean;
  readonly state: Pick<StateFacts, 'serial' | 'lineage'>;
  /** Id of the version that it is based on; empty: none. */
  readonly follows: string;
  readonly current: Pick<StateVersionRow, 'id' | 'serial' | 'lineage'> | null;
}

/** Whether a state continues the current one. */
function continues({ state, follows, current }: Pick<ShippedFacts, 'state' | 'follows' | 'current'>) {
  if (follows !== (current?.id ?? '')) return false;
  return current === null || (state.lineage === current.lineage && state.serial >= current.serial);
}

/** @returns null where the state becomes the current one */
export function rescueReason(facts: ShippedFacts): RescueReason | null {
  if (facts.isOfOtherEnvironment) return 'lineageOfOtherEnvironment';
  if (facts.isOfPlan) {
    if (facts.current !== null) return 'planOfEnvironmentWithState';
    if (!facts.isNewestAttempt) return 'attemptReplaced';
  } else {
    if (!facts.hasMark) return 'attemptWithoutMark';
    if (facts.isNewerAttemptMarked) return 'newerAttemptMarked';
  }
  if (!continues(facts)) return 'notBasedOnCurrent';
  return facts.isHeld ? 'stateHeld' : null;
}
