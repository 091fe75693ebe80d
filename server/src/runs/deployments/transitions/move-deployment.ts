/**
 * The one way in which a deployment changes its status: both life cycles move in one transaction, and whatever
 * has to follow is a reaction to `deploymentMoved`.
 */
import type { Updateable } from 'kysely';
import type { DeploymentErrorBody } from '#contract/deployments/plan.ts';
import {
  canMove,
  environmentStatusOf,
  isTerminal,
  restingStatusAfter,
  speakerOf,
} from '#contract/life-cycle/life-cycle.ts';
import type { DeploymentStatus, EnvironmentStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../../../framework/context.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  loadSpeakers,
  type Speakers,
  updateDeploymentRow,
} from '../../../rows/deployments/deployment-store.ts';
import {
  type LockedEnvironment,
  updateEnvironmentRow,
} from '../../../rows/environments/environment-store.ts';
import { skipSteps } from '../../../rows/logs/step-store.ts';
import type { DeploymentTable, EnvironmentTable } from '../../../rows/schema.ts';
import { attemptColumns } from '../../../tenancy/lifetimes/retry-destroy.ts';
import type { Level } from '../decisions/decide-level.ts';
import { driftStatusAfter } from '../decisions/drift-status-after.ts';

/**
 * The error of a deployment that ends after its first level, with the units that earlier levels have applied.
 * @param error null: it has none so far
 * @returns null for a deployment that has applied nothing and has no error
 */
function withApplied(level: Level | null, error: DeploymentErrorBody | null): DeploymentErrorBody | null {
  if (level === null || level.done.length === 0) return error;
  const before = `Applied before in this deployment: ${level.done.join(', ')}. The next deployment continues with the rest.`;
  return { ...error, message: error === null ? before : `${error.message}\n\n${before}` };
}

/** Status of the environment and the deployment that speaks for it, together with the changes of other columns. */
async function refreshedColumns<Changes extends Updateable<EnvironmentTable>>(
  context: Context,
  environment: LockedEnvironment,
  changes: Changes,
  known: Partial<Speakers>,
) {
  const changed = { ...environment, ...changes };
  const first = (open: Speakers['open'] = []) =>
    speakerOf(open.map(({ id, type, status }) => ({ id, type, status })));
  const isEnough = known.newest !== undefined || first(known.open) !== null;
  const { open, newest } = isEnough ? known : await loadSpeakers(context.db, environment.id);
  const latest = first(open) ?? newest ?? null;
  const status: EnvironmentStatus = environmentStatusOf({
    latest,
    resting: changed.resting_status,
    isArchived: changed.is_archived,
  });
  return { ...changes, status, latest_deployment_id: latest?.id ?? null, updated_at: context.now() };
}

/**
 * The environment as a function of its deployments: status and the deployment that speaks for it.
 * @param changes further columns that change
 * @param known its deployments, as far as the caller knows them: those that decide are read otherwise
 */
export async function refreshEnvironment(
  context: Context,
  environment: LockedEnvironment,
  changes: Updateable<EnvironmentTable> = {},
  known: Partial<Speakers> = {},
): Promise<LockedEnvironment> {
  const columns = await refreshedColumns(context, environment, changes, known);
  return updateEnvironmentRow(context.db, environment, columns);
}

function timesOf(deployment: DeploymentRow, to: DeploymentStatus, now: Date): Updateable<DeploymentTable> {
  return {
    ...(to === 'IN_PROGRESS' && deployment.started_at === null ? { started_at: now } : {}),
    ...(isTerminal(to) ? { finished_at: now } : {}),
    updated_at: now,
  };
}

/** However a deployment ends without success, its error names what earlier levels have applied. */
function errorColumn(
  { level, error }: DeploymentRow,
  to: DeploymentStatus,
  changes: Updateable<DeploymentTable>,
): Pick<Updateable<DeploymentTable>, 'error'> {
  if (level === null || !isTerminal(to) || to === 'SUCCESS') return {};
  const known =
    typeof changes.error === 'string' ? (JSON.parse(changes.error) as DeploymentErrorBody) : error;
  const complete = withApplied(level, known);
  return complete === null ? {} : { error: JSON.stringify(complete) };
}

export interface MovedDeployment extends LockedDeployment {
  readonly speakers: Speakers;
}

/**
 * Moves a deployment along the life cycle's table.
 * @param changes further columns of the deployment that change with the status
 * @returns both rows and the deployments that speak for the environment, as they are now
 * @throws Error for a move that the table does not have: a defect of the caller, which checks first
 */
export async function moveDeployment(
  context: Context,
  { deployment, environment }: LockedDeployment,
  to: DeploymentStatus,
  changes: Updateable<DeploymentTable> = {},
): Promise<MovedDeployment> {
  const from = deployment.status;
  if (!canMove(from, to)) throw new Error(`A deployment cannot move from ${from} to ${to}`);
  const [row, speakers] = await Promise.all([
    updateDeploymentRow(context.db, deployment.id, {
      status: to,
      ...timesOf(deployment, to, context.now()),
      ...changes,
      ...errorColumn(deployment, to, changes),
    }),
    loadSpeakers(context.db, environment.id),
  ]);
  const resting = restingStatusAfter(environment.resting_status, {
    type: row.type,
    status: to,
  });
  const drift = driftStatusAfter(environment.drift_status, {
    type: row.type,
    status: to,
    driftDetected: row.drift_detected,
  });
  const columns = await refreshedColumns(
    context,
    environment,
    {
      resting_status: resting,
      drift_status: drift,
      ...attemptColumns(environment, row, to, context.now()),
    },
    speakers,
  );
  const refreshed = { ...environment, ...columns };
  await Promise.all([
    updateEnvironmentRow(context.db, environment, columns),
    context.react('deploymentMoved', {
      deployment: row,
      environment: refreshed,
      from,
      driftBefore: environment.drift_status,
    }),
  ]);
  return { deployment: row, environment: refreshed, speakers };
}

/**
 * A destroy that finds nothing to destroy ends well without its tool: all steps skipped, the environment
 * inactive.
 * @param locked IN_PROGRESS, without a job
 */
export async function endIdleDestroy(context: Context, locked: LockedDeployment): Promise<MovedDeployment> {
  await skipSteps(context.db, locked.deployment.id);
  const found = {
    plan_summary: JSON.stringify({ added: 0, changed: 0, destroyed: 0 }),
    has_changes: false,
    output: JSON.stringify({}),
  };
  return moveDeployment(context, locked, 'SUCCESS', found);
}
