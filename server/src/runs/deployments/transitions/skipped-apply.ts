/** Deploys whose plan is empty, in projects that skip their apply: what the environment has stays what it has. */
import type { Connection, Context } from '../../../framework/context.ts';
import type { DeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { resealOutput } from '../../../rows/deployments/outcome-columns.ts';
import {
  copyResults,
  type LastResults,
  lastResults,
  storeNoResults,
} from '../../../rows/deployments/results-store.ts';
import { wasTouchedBetween } from '../../../rows/dispatch/run-store.ts';
import { getEnvironmentRow } from '../../../rows/environments/environment-store.ts';
import { readPolicySettings } from '../../../tenancy/project-policies/policy-settings.ts';
import { readInputs } from '../inputs/run-inputs.ts';

/**
 * Whether an environment still has what its last run has read: the state is the one that the run stored or found, and
 * no run has begun to change anything since. Where the service does not have the state, only runs are known.
 */
async function isAsRead(
  db: Connection,
  { environment_id: environmentId, number }: DeploymentRow,
  last: LastResults,
): Promise<boolean> {
  const environment = await getEnvironmentRow(db, environmentId);
  const known = last.state_version_id ?? last.planned_on_state_version_id;
  if (environment?.current_state_version_id !== known) return false;
  return !(await wasTouchedBetween(db, environmentId, { after: last.number, before: number }));
}

/**
 * Whether the plan of a deploy changes nothing, and the policy of the project skips the apply of such plans. Changes
 * that are proposed are stored with an approval: their plan waits for one. Where no run has read or removed what
 * the environment has, the apply does: its state may be imported, or in a backend of its own with resources that a
 * destroy must not miss. So it does if the state is another one since, such as an earlier version.
 */
export async function isApplySkipped(
  context: Pick<Context, 'db' | 'sealer'>,
  deployment: DeploymentRow,
  hasChanges: boolean | null,
): Promise<boolean> {
  // Changes that earlier levels have applied were not skipped.
  if (deployment.type !== 'deploy' || hasChanges !== false || deployment.level !== null) return false;
  const { skipApplyWhenPlanIsEmpty } = await readPolicySettings(context.db, deployment.project_id);
  if (!skipApplyWhenPlanIsEmpty || (await readInputs(context, deployment.id)).proposed !== undefined)
    return false;
  const last = await lastResults(context.db, deployment);
  return last !== undefined && (await isAsRead(context.db, deployment, last));
}

/** Gives a deployment whose apply is skipped the outputs and resources that the environment has. */
export async function carryResults(context: Context, deployment: DeploymentRow): Promise<void> {
  const last = await lastResults(context.db, deployment);
  const isNothing = last === undefined || (last.type === 'destroy' && last.status === 'SUCCESS');
  if (isNothing) return storeNoResults(context.db, deployment.id);
  const sealedOutput = resealOutput(context, last, deployment);
  await copyResults(context.db, { from: last.id, to: deployment.id, sealedOutput });
}
