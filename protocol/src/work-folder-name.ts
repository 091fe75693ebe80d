/** Folder of the code of a run, below the work folder of its agent. */
import { posix } from 'node:path';
import type { Job } from './messages/job.ts';

/** Types that may run alongside another deployment of the same environment. */
const parallelTypes: readonly Job['type'][] = ['prPlan', 'remotePlan', 'moduleTest'];

type RunIdentity = Pick<Job, 'type' | 'environmentId' | 'deploymentId'>;

/** The name of the folder in which the phases of a deployment run. */
export function workFolderName({ type, environmentId, deploymentId }: RunIdentity): string {
  return parallelTypes.includes(type) ? `${environmentId}-${deploymentId}` : environmentId;
}

/** The folder in it that has the repository. */
export const treeFolder = 'tree';

/** The absolute path of a run's repository, which the run knows as `ENVARIUM_ROOT_DIR`. */
export function treePath(workFolder: string, run: RunIdentity): string {
  return posix.join(workFolder, workFolderName(run), treeFolder);
}
