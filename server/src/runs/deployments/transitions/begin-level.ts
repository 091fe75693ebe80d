/** The next level of a deployment: its units are planned once those are applied whose outputs they need. */
import type { Updateable } from 'kysely';
import type { Context } from '../../../framework/context.ts';
import { type LockedDeployment, updateDeploymentRow } from '../../../rows/deployments/deployment-store.ts';
import { keepLevel } from '../../../rows/deployments/level-store.ts';
import { appendLog, restartAllSteps } from '../../../rows/logs/step-store.ts';
import type { DeploymentTable } from '../../../rows/schema.ts';
import { recordEvent } from '../../feeds/record-event.ts';
import { stepView } from '../../logs/step-view.ts';
import { enqueueJob } from '../../queue/enqueue.ts';
import { type Level, levelNumber } from '../decisions/decide-level.ts';
import { planJob } from './advance-queue.ts';
import { refreshEnvironment } from './move-deployment.ts';

/** Until the next plan is stored, the deployment has none: the applied one is kept as that of its level. */
const noPlan = {
  plan: null,
  plan_summary: null,
  plan_hash: null,
  approved_parts: null,
  // An agent that does not know of levels reports none, and nothing follows its plan.
  planned_units: null,
  has_changes: null,
  has_resource_changes: null,
  cost_estimation: null,
} as const satisfies Updateable<DeploymentTable>;

/**
 * Keeps the applied plan and enqueues the next one, in the transaction of the outcome: a kill of whatever process leaves
 * either the apply without an outcome or a job for any agent.
 * @param changes what the outcome of the apply brings
 */
export async function beginLevel(
  context: Context,
  { deployment, environment }: LockedDeployment,
  level: Level,
  changes: Updateable<DeploymentTable>,
): Promise<void> {
  const { id } = deployment;
  await keepLevel(context.db, id, levelNumber(deployment.level), context.now());
  await updateDeploymentRow(context.db, id, {
    ...changes,
    ...noPlan,
    level: JSON.stringify(level),
  });
  const heading = `\n──── Level ${level.number}: ${level.units.join(', ')} ────\n\n`;
  for (const row of await restartAllSteps(context.db, id)) {
    if (row.log_bytes > 0) await appendLog(context.db, id, row.name, heading);
    await recordEvent(context, id, 'step', stepView(row, deployment));
  }
  // Whatever becomes of the rest, the environment has resources now.
  await refreshEnvironment(context, environment, { resting_status: 'ACTIVE' });
  await enqueueJob(context, planJob(context, deployment, level.number));
}
