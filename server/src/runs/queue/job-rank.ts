/** The order in which agents take jobs. Pure. */
import type { DeploymentType } from '#contract/schema/enumerations.ts';

/** The class of drift detections and tests: no one waits for them, and they get only a share of the slots. */
export const backgroundClass = 3;

const classOfPlan: Readonly<Record<DeploymentType, number>> = {
  deploy: 1,
  destroy: 1,
  task: 1,
  prPlan: 2,
  remotePlan: 2,
  dryRun: 2,
  driftDetection: backgroundClass,
  moduleTest: backgroundClass,
};

/** For so long a job of one class goes before older ones of the next class: nothing waits forever. */
const headStartMilliseconds = 10 * 60_000;

/** Facts that determine the rank of a job. */
export interface RankedJob {
  readonly phase: 'plan' | 'apply';
  readonly type: DeploymentType;
  readonly createdAt: Date;
}

/**
 * The class of a job, and the time that it is ordered by. As this is fixed, waiting jobs need no renewal, and an index
 * has them in order.
 */
export function rankOf({ phase, type, createdAt }: RankedJob): { class: number; rank_at: Date } {
  const jobClass = phase === 'apply' ? 0 : classOfPlan[type];
  return { class: jobClass, rank_at: new Date(createdAt.getTime() + jobClass * headStartMilliseconds) };
}
