/** Deploys whose plan is empty, in projects that skip their apply: what the environment has stays what it has. */
import type { Context } from '../../context.ts';
import type { LockedEnvironment } from '../../environments/environment-store.ts';
import { readPolicySettings } from '../../policies/policy-settings.ts';
import type { DeploymentRow } from '../deployment-store.ts';
import { resealOutput } from '../outcome-columns.ts';
import { readInputs } from '../run-inputs.ts';
import { copyResults, lastResults, storeNoResults } from './results-store.ts';

/**
 * Whether the plan of a deploy changes nothing, and the policy of the project skips the apply of such plans. Changes
 * that somebody proposes are stored with an approval: their plan waits for one. Where the environment has a state of
 * which no run has read the outputs, such as an imported one, the apply reads them.
 */
export async function isApplySkipped(
  context: Pick<Context, 'db' | 'sealer'>,
  deployment: DeploymentRow,
  environment: Pick<LockedEnvironment, 'current_state_version_id'>,
  hasChanges: boolean | null,
): Promise<boolean> {
  // What earlier levels have applied was not skipped.
  if (deployment.type !== 'deploy' || hasChanges !== false || deployment.level !== null) return false;
  const { skipApplyWhenPlanIsEmpty } = await readPolicySettings(context.db, deployment.project_id);
  if (!skipApplyWhenPlanIsEmpty || (await readInputs(context, deployment.id)).proposed !== undefined)
    return false;
  return (
    environment.current_state_version_id === null || (await lastResults(context.db, deployment)) !== undefined
  );
}

/** Gives a deployment whose apply is skipped the outputs and resources that the environment has. */
export async function carryResults(context: Context, deployment: DeploymentRow): Promise<void> {
  const last = await lastResults(context.db, deployment);
  const isNothing = last === undefined || (last.type === 'destroy' && last.status === 'SUCCESS');
  if (isNothing) return storeNoResults(context.db, deployment.id);
  const sealedOutput = resealOutput(context, last, deployment);
  await copyResults(context.db, { from: last.id, to: deployment.id, sealedOutput });
}
