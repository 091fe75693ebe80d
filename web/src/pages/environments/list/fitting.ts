/** Actions on many environments at once, and the environments that qualify. */
import type { Environment } from '#contract/environments/shapes.ts';
import { environmentAccepts, permits } from '#contract/life-cycle/life-cycle.ts';
import type { Right } from '#contract/schema/rights.ts';

export const bulkActions = [
  'deploy',
  'approve',
  'checkDrift',
  'lock',
  'unlock',
  'archive',
  'destroy',
] as const;
export type BulkAction = (typeof bulkActions)[number];

export interface BulkLook {
  readonly verb: string;
  /** In the middle of a sentence. */
  readonly done: string;
  readonly rights: readonly Right[];
  /** Label of the optional text. */
  readonly text?: string;
}

export const bulkLooks: Readonly<Record<BulkAction, BulkLook>> = {
  deploy: { verb: 'Deploy', done: 'started', rights: ['RUN_PLAN'], text: 'Comment' },
  approve: { verb: 'Approve', done: 'approved', rights: ['RUN_APPLY'] },
  checkDrift: { verb: 'Check drift', done: 'started', rights: ['RUN_PLAN'] },
  lock: { verb: 'Lock', done: 'locked', rights: ['MANAGE_ENVIRONMENT_LOCK'], text: 'Reason' },
  unlock: { verb: 'Unlock', done: 'unlocked', rights: ['MANAGE_ENVIRONMENT_LOCK'] },
  archive: {
    verb: 'Archive',
    done: 'archived',
    rights: ['ARCHIVE_ENVIRONMENT', 'EDIT_ENVIRONMENT_SETTINGS'],
  },
  destroy: { verb: 'Destroy', done: 'started', rights: ['RUN_PLAN'], text: 'Comment' },
};

/** Requirements of each action for an environment, with the sentence for those that do not meet them. */
const conditions: Readonly<Record<BulkAction, (environment: Environment) => string | undefined>> = {
  deploy: (environment) => startProblem(environment, 'deploy'),
  destroy: (environment) => startProblem(environment, 'destroy'),
  checkDrift: (environment) => startProblem(environment, 'driftDetection'),
  approve: ({ latestDeploymentLog: { status } }) =>
    permits(status, 'approve') ? undefined : 'Nothing waits for approval.',
  lock: ({ isLocked }) => (isLocked ? 'It is locked already.' : undefined),
  unlock: ({ isLocked }) => (isLocked ? undefined : 'It is not locked.'),
  archive: ({ isArchived, latestDeploymentLog: { status } }) => {
    if (isArchived) return 'It is archived already.';
    return status === 'IN_PROGRESS' || status === 'ABORTING' ? 'A deployment is running.' : undefined;
  },
};

function startProblem(
  environment: Environment,
  action: 'deploy' | 'destroy' | 'driftDetection',
): string | undefined {
  if (environmentAccepts(environment, action)) return undefined;
  if (environment.isLocked) return 'It is locked.';
  if (environment.isArchived) return 'It is archived.';
  if (environment.status === 'DESTROY_IN_PROGRESS') return 'It is being destroyed already.';
  return 'It has nothing deployed.';
}

/**
 * @param has whether the person has a right on it; undefined: not known yet
 * @returns why it is left out, as a sentence; undefined: it fits
 */
export function whyUnfit(
  action: BulkAction,
  environment: Environment,
  has: (right: Right) => boolean | undefined,
): string | undefined {
  const problem = conditions[action](environment);
  if (problem !== undefined) return problem;
  const missing = bulkLooks[action].rights.find((right) => has(right) === false);
  return missing === undefined ? undefined : `You need the right ${missing} on it.`;
}
