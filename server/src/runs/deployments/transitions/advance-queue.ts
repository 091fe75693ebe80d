/** Starts what may start in an environment's queue: called whenever something ahead of it ended. */
import type { TemplateType } from '#contract/schema/enumerations.ts';
import { canEstimateCosts, deploymentSteps, isRunnable } from '#protocol/tools/index.ts';
import type { Context } from '../../../framework/context.ts';
import {
  type DeploymentRow,
  type LockedDeployment,
  loadSpeakers,
  openDeployments,
  type Speakers,
} from '../../../rows/deployments/deployment-store.ts';
import { getSealedInputs } from '../../../rows/deployments/inputs-store.ts';
import type { LockedEnvironment } from '../../../rows/environments/environment-store.ts';
import { replaceSteps, skipSteps } from '../../../rows/logs/step-store.ts';
import { getPolicyRow } from '../../../rows/project-policies/policy-store.ts';
import { getStateLock } from '../../../rows/state/state-lock-store.ts';
import { enqueueJob, newJob, type QueuedJob } from '../../queue/enqueue.ts';
import { isSerial, waitsFor } from '../../queue/queue-order.ts';
import { taskRefusal } from '../decisions/decide-start.ts';
import { findRedundant } from '../decisions/find-redundant.ts';
import { lastDeployColumns, lastDeployFor } from '../inputs/last-deploy.ts';
import { openInputs } from '../inputs/run-inputs.ts';
import { resourcesOf } from '../inputs/start-facts.ts';
import { endIdleDestroy, type MovedDeployment, moveDeployment } from './move-deployment.ts';
import { policiesAssignedSince } from './policies-assigned-since.ts';

/** The job of the first phase of a deployment, or of one of its levels, which is not stored yet. */
export function planJob(
  context: Context,
  { id, tool, type }: Pick<DeploymentRow, 'id' | 'tool' | 'type'>,
  level = 1,
): QueuedJob {
  return newJob(context, {
    deploymentId: id,
    type,
    phase: 'plan',
    level,
    tool,
    workFolder: null,
  });
}

/**
 * Why a deployment is over as soon as its turn has come. @returns `nothing`: there is nothing to destroy; a message
 * that refuses a task; null: it runs
 */
async function endAtTurn(
  context: Context,
  environment: LockedEnvironment,
  { type }: DeploymentRow,
  last: DeploymentRow | undefined,
): Promise<'nothing' | { readonly message: string } | null> {
  if (type === 'destroy' && !(await resourcesOf(context.db, environment)).mayExist) return 'nothing';
  if (type !== 'task') return null;
  const { name, resting_status: restingStatus } = environment;
  const message = taskRefusal({ environment: { name, restingStatus }, hasLastDeploy: last !== undefined });
  return message === null ? null : { message };
}

/** Begins and ends what is over as soon as its turn has come. */
async function endAtOnce(
  context: Context,
  locked: LockedDeployment,
  end: 'nothing' | { readonly message: string },
): Promise<MovedDeployment> {
  const started = await moveDeployment(context, locked, 'IN_PROGRESS');
  return end === 'nothing'
    ? endIdleDestroy(context, started)
    : moveDeployment(context, started, 'FAILURE', { error: JSON.stringify(end) });
}

/**
 * Those that bring something along that no other deployment does: changes that wait for an approval, resources to
 * take into the state. They are never redundant, because it would be lost.
 */
async function bringingAlong(context: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await getSealedInputs(context.db, ids);
  const bringing = rows.filter(({ id, sealed_inputs: sealed }) => {
    const { proposed, imports } = openInputs(context, id, sealed);
    return proposed !== undefined || imports !== undefined;
  });
  return new Set(bringing.map(({ id }) => id));
}

/**
 * The last deploy may have run another tool than the one that was known when the deployment was queued.
 * @returns what changes of its row besides the tool
 */
async function changeTool(
  context: Context,
  row: DeploymentRow,
  tool: TemplateType | undefined,
): Promise<Pick<Partial<DeploymentRow>, 'estimates_costs'>> {
  if (tool === undefined || tool === row.tool || !isRunnable(tool)) return {};
  const estimatesCosts = row.estimates_costs && canEstimateCosts(tool, row.type);
  const extra = { estimatesCosts, hasPolicies: row.has_policies };
  await replaceSteps(context.db, row.id, deploymentSteps(tool, row.type, extra), context.newId);
  return { estimates_costs: estimatesCosts };
}

/** Skips queued deploys that a later deployment makes redundant, if the project wants that. */
async function skipRedundant(
  context: Context,
  environment: LockedEnvironment,
  open: readonly DeploymentRow[],
): Promise<{ environment: LockedEnvironment; open: readonly DeploymentRow[] }> {
  const redundant = findRedundant(open);
  if (redundant.length === 0) return { environment, open };
  const policy = await getPolicyRow(context.db, environment.project_id);
  if (policy?.skip_redundant_deployments !== true) return { environment, open };
  const bringing = await bringingAlong(
    context,
    redundant.map(({ id }) => id),
  );
  let current = environment;
  const skipped = redundant.filter(({ id }) => !bringing.has(id));
  for (const { id, skippedFor } of skipped) {
    const deployment = open.find((row) => row.id === id);
    if (!deployment) continue;
    await skipSteps(context.db, id);
    const changes = { skipped_for: skippedFor };
    const moved = await moveDeployment(context, { deployment, environment: current }, 'SKIPPED', changes);
    current = moved.environment;
  }
  const ids = new Set(skipped.map(({ id }) => id));
  return { environment: current, open: open.filter(({ id }) => !ids.has(id)) };
}

/**
 * @param speakers of the environment, where the caller knows them
 * @returns the environment as it is then
 */
export async function advanceQueue(
  context: Context,
  environment: LockedEnvironment,
  speakers?: Speakers,
): Promise<LockedEnvironment> {
  if (environment.is_locked) return environment;
  const { open: queue } = speakers ?? (await loadSpeakers(context.db, environment.id));
  if (!queue.some(({ status }) => status === 'QUEUED')) return environment;
  const all = await openDeployments(context.db, environment.id);
  const isStateLocked = all.length > 0 && (await getStateLock(context.db, environment.id)) !== undefined;
  const left = isStateLocked ? { environment, open: all } : await skipRedundant(context, environment, all);
  let current = left.environment;
  const { open } = left;
  const facts = open.map((row) => ({ id: row.id, type: row.type, status: row.status }));
  for (const row of open) {
    if (row.status !== 'QUEUED' || waitsFor(row, facts) || (isStateLocked && isSerial(row.type))) continue;
    const locked = { deployment: row, environment: current };
    const last = await lastDeployFor(context.db, row);
    const end = await endAtTurn(context, current, row, last);
    if (end !== null) {
      const ended = await endAtOnce(context, locked, end);
      return advanceQueue(context, ended.environment, ended.speakers);
    }
    const code = lastDeployColumns(row, last);
    const tool = await changeTool(context, row, code.tool);
    const taken = {
      ...code,
      ...tool,
      ...(await policiesAssignedSince(context, row, code.template_id ?? row.template_id)),
    };
    // Before the move, whose event says what the deployment waits for.
    await enqueueJob(context, planJob(context, { ...row, tool: code.tool ?? row.tool }));
    current = (await moveDeployment(context, locked, 'IN_PROGRESS', taken)).environment;
  }
  return current;
}
