/**
 * The one way in which a deployment changes its status: both life cycles move in one transaction, and readers
 * hear of it.
 */
import type { Updateable } from 'kysely';
import type {
  DeploymentStatus,
  DeploymentType,
  DriftStatus,
  EnvironmentStatus,
  StepStatus,
} from '#contract/schema/enumerations.ts';
import {
  canMove,
  environmentStatusOf,
  isTerminal,
  restingStatusAfter,
  speakerOf,
} from '#contract/life-cycle/life-cycle.ts';
import type { Context } from '../context.ts';
import type { DeploymentTable } from '../database/schema.ts';
import {
  type DeploymentRow,
  newestSpeakingDeployment,
  openDeployments,
  updateDeploymentRow,
} from './deployment-store.ts';
import { driftStatusAfter } from './drift-status.ts';
import {
  type EnvironmentRow,
  getEnvironmentRow,
  updateEnvironmentRow,
} from '../environments/environment-store.ts';
import { recordEvent } from '../feeds/record-event.ts';
import { recordStatus } from './record-status.ts';
import { endRunningSteps } from '../logs/step-store.ts';
import { stepView } from '../logs/step-view.ts';

/** What becomes of steps that were running when their deployment ended. */
const stepStatusAtEnd: Partial<Record<DeploymentStatus, StepStatus>> = {
  SUCCESS: 'SUCCESS',
  FAILURE: 'FAIL',
  INTERNAL_FAILURE: 'FAIL',
  TIMEOUT: 'TIMEOUT',
  ABORTED: 'CANCELLED',
  CANCELLED: 'CANCELLED',
};

/** The environment as a function of its deployments: status and the deployment that speaks for it. */
export async function refreshEnvironment(
  context: Context,
  environment: EnvironmentRow,
): Promise<EnvironmentRow> {
  const speaker = (row: DeploymentRow) => ({
    id: row.id,
    type: row.type as DeploymentType,
    status: row.status as DeploymentStatus,
  });
  const newest = await newestSpeakingDeployment(context.db, environment.id);
  const latest =
    speakerOf((await openDeployments(context.db, environment.id)).map(speaker)) ??
    (newest ? speaker(newest) : null);
  const status: EnvironmentStatus = environmentStatusOf({
    latest,
    resting: environment.resting_status as EnvironmentStatus,
    isArchived: environment.is_archived,
  });
  return updateEnvironmentRow(context.db, environment.id, {
    status,
    latest_deployment_id: latest?.id ?? null,
    updated_at: context.now(),
  });
}

async function endSteps(
  context: Context,
  deployment: DeploymentRow,
  status: DeploymentStatus,
): Promise<void> {
  const stepStatus = stepStatusAtEnd[status];
  if (!stepStatus) return;
  for (const step of await endRunningSteps(context.db, deployment.id, stepStatus, context.now())) {
    await recordEvent(context, deployment.id, 'step', stepView(step, deployment));
  }
}

function timesOf(deployment: DeploymentRow, to: DeploymentStatus, now: Date): Updateable<DeploymentTable> {
  return {
    ...(to === 'IN_PROGRESS' && deployment.started_at === null ? { started_at: now } : {}),
    ...(isTerminal(to) ? { finished_at: now } : {}),
    updated_at: now,
  };
}

/**
 * Moves a deployment along the life cycle's table; the caller holds the environment's row lock.
 * @param changes further columns that change with the status
 * @throws Error for a move that the table does not have: a defect of the caller, which checks first
 */
export async function moveDeployment(
  context: Context,
  deployment: DeploymentRow,
  to: DeploymentStatus,
  changes: Updateable<DeploymentTable> = {},
): Promise<DeploymentRow> {
  const from = deployment.status as DeploymentStatus;
  if (!canMove(from, to)) throw new Error(`A deployment cannot move from ${from} to ${to}`);
  const row = await updateDeploymentRow(context.db, deployment.id, {
    status: to,
    ...timesOf(deployment, to, context.now()),
    ...changes,
  });
  if (isTerminal(to)) await endSteps(context, row, to);
  const environment = await getEnvironmentRow(context.db, deployment.environment_id);
  if (!environment) throw new Error(`Deployment ${deployment.id} has no environment`);
  const resting = restingStatusAfter(environment.resting_status as EnvironmentStatus, {
    type: row.type as DeploymentType,
    status: to,
  });
  const drift = driftStatusAfter(environment.drift_status as DriftStatus, {
    type: row.type,
    status: to,
    driftDetected: row.drift_detected,
  });
  const rested = await updateEnvironmentRow(context.db, environment.id, {
    resting_status: resting,
    drift_status: drift,
  });
  const refreshed = await refreshEnvironment(context, rested);
  await recordStatus(context, row, refreshed);
  return row;
}

/**
 * A destroy that finds nothing to destroy ends well without its tool: all steps skipped, the environment
 * inactive.
 * @param deployment IN_PROGRESS, without a job; the caller holds the environment's row lock
 */
export async function endIdleDestroy(context: Context, deployment: DeploymentRow): Promise<DeploymentRow> {
  await context.db
    .updateTable('deployment_step')
    .set({ status: 'SKIPPED' })
    .where('deployment_id', '=', deployment.id)
    .execute();
  const found = {
    plan_summary: JSON.stringify({ added: 0, changed: 0, destroyed: 0 }),
    output: JSON.stringify({}),
  };
  return moveDeployment(context, deployment, 'SUCCESS', found);
}
