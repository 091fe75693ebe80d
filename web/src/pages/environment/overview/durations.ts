/** Durations of deployments, for a chart and in words. Pure. */
import type { Deployment } from '#contract/deployments/shapes.ts';
import { spanText } from '../../../ui/spans.ts';

export interface ShownDuration {
  readonly seconds: number;
  readonly isFailed: boolean;
}

type Timed = Pick<Deployment, 'startedAt' | 'finishedAt' | 'status'>;

const failed: readonly Deployment['status'][] = ['FAILURE', 'INTERNAL_FAILURE', 'TIMEOUT', 'ABORTED'];

/** Those that are over, oldest first. @param newestFirst as lists answer them */
export function durationsOf(newestFirst: readonly Timed[]): ShownDuration[] {
  return newestFirst
    .filter(({ startedAt, finishedAt }) => startedAt && finishedAt)
    .map(({ startedAt, finishedAt, status }) => ({
      seconds: Math.max(0, Date.parse(finishedAt!) - Date.parse(startedAt!)) / 1000,
      isFailed: failed.includes(status),
    }))
    .toReversed();
}

/** The same as a sentence. */
export function durationWords(all: readonly ShownDuration[]): string {
  const sorted = all.map(({ seconds }) => seconds).toSorted((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) return 'No deployment has ended yet.';
  const count = all.filter(({ isFailed }) => isFailed).length;
  const span = (seconds: number) => spanText(seconds * 1000);
  return (
    `The last ${all.length} deployments, oldest first: half of them took up to ${span(middle)}, ` +
    `the longest ${span(sorted.at(-1)!)}, waits for approval included; ` +
    `${count === 0 ? 'none' : count} failed.`
  );
}
