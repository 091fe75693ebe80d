/**
 * Finds the other workspaces of the code's own backend before the first plan in one with a generated name.
 */

import type { Job } from '#protocol/messages/job.ts';
import { runVariableNames } from '#protocol/tools/inputs/run-variables.ts';
import type { DriverContext } from '../interface/driver.ts';
import type { OtherWorkspaces } from '../interface/state-places.ts';
import { isOurs, readCodeBackend } from './backend.ts';
import { early, type Flavor, prepareSteps, runVariablesOf } from './commands.ts';
import { workspacesIn } from './own-backend.ts';

const checkedTypes: readonly Job['type'][] = ['deploy', 'prPlan', 'remotePlan', 'dryRun'];

/**
 * The code is read only for a first plan.
 * @returns null if the workspace was specified, used before or allowed to be empty, or if the backend of the
 * code has no workspaces
 */
export async function otherWorkspaces(
  flavor: Flavor,
  context: DriverContext,
): Promise<OtherWorkspaces | null> {
  const { job, stateFolder, tree } = context;
  const isFirstPlan = job.isWorkspaceNew === true && job.phase === 'plan' && checkedTypes.includes(job.type);
  const { skipsWorkspace, allowsEmptyWorkspace } = runVariablesOf(job);
  if (!isFirstPlan || stateFolder !== null || skipsWorkspace || allowsEmptyWorkspace) return null;
  const backend = await readCodeBackend(tree, flavor.fileRules);
  if (isOurs(backend) || !backend.hasWorkspaces) return null;
  const program = flavor.facts.program.name;
  const step = prepareSteps(flavor.facts).workspace;
  return {
    backend: backend.type,
    variable: runVariableNames.allowsEmptyWorkspace,
    list: {
      step,
      program,
      label: `${program} workspace list`,
      args: ['workspace', 'list'],
      captureTo: 'other-workspaces',
    },
    names: workspacesIn,
    pull: (workspace) => ({
      step,
      program,
      label: `${program} state pull (${workspace})`,
      args: ['state', 'pull', ...early(flavor, context)],
      environment: { TF_WORKSPACE: workspace },
      captureTo: 'other-state',
    }),
  };
}
