/** Steps of a deployment with the time that each took. */
import type { Step } from '#contract/deployments/shapes.ts';
import { spanText } from '../../../ui/spans.ts';

export interface StepDuration {
  readonly step: Step;
  /** Undefined: it has not begun. */
  readonly milliseconds: number | undefined;
  /** Of the longest step that worked, from 0 to 1. */
  readonly share: number;
}

/** The wait for a person says nothing about how fast the others were. */
const waits = 'approval:wait';

/** @param now milliseconds since 1970, for the step that is running */
export function timedSteps(steps: readonly Step[], now: number): StepDuration[] {
  const timed = steps.map((step) => {
    const { startedAt, completedAt } = step;
    // Older skipped steps have no end.
    if (!startedAt || (!completedAt && step.status === 'SKIPPED')) return { step, milliseconds: undefined };
    return {
      step,
      milliseconds: Math.max(0, (completedAt ? Date.parse(completedAt) : now) - Date.parse(startedAt)),
    };
  });
  const longest = Math.max(
    1,
    ...timed.map(({ step, milliseconds }) => (step.name === waits ? 0 : (milliseconds ?? 0))),
  );
  return timed.map((each) => ({ ...each, share: Math.min(1, (each.milliseconds ?? 0) / longest) }));
}

/** Its name in the interface: that of the step's log. */
export function stepName({ displayName, name }: Pick<Step, 'displayName' | 'name'>): string {
  return displayName ?? name;
}

export function stepTime({ milliseconds }: StepDuration): string {
  return milliseconds === undefined ? '' : spanText(milliseconds);
}

/** Number of the try of the step, once it was retried. */
export function tryText({ retryCount }: Pick<Step, 'retryCount'>): string {
  return retryCount ? `try ${retryCount + 1}` : '';
}
