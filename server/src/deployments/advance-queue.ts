/** Starts what may start in an environment's queue: called whenever something ahead of it ended. */
import type { DeploymentStatus } from '#contract/schema/enumerations.ts';
import type { Context } from '../context.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { type DeploymentRow, type LockedDeployment, openDeployments } from './deployment-store.ts';
import type { LockedEnvironment } from '../environments/environment-store.ts';
import { endIdleDestroy, moveDeployment } from './move-deployment.ts';
import { followLastDeploy, taskRefusal } from './last-deploy.ts';
import { mayHaveResources } from './may-have-resources.ts';
import { isSerial, waitsFor } from './queue-order.ts';
import { getStateLock } from '../state/state-lock-store.ts';

/** Types that agents know from this minor version of the protocol on. */
const protocolMinors: Readonly<Record<string, number>> = { task: 1, remotePlan: 1 };

/** Makes a deployment's first phase available to agents. */
export async function startNow(context: Context, deployment: DeploymentRow): Promise<DeploymentRow> {
  const followed = await followLastDeploy(context.db, deployment);
  const { id, type, blueprint_type: tool } = followed;
  await enqueueJob(context, {
    deploymentId: id,
    phase: 'plan',
    tool,
    workFolder: null,
    protocolMinor: protocolMinors[type] ?? 0,
  });
  return followed;
}

/** Ends what is over as soon as its turn has come. @returns null where it is not */
async function endAtOnce(context: Context, locked: LockedDeployment): Promise<LockedDeployment | null> {
  const { deployment, environment } = locked;
  if (deployment.type === 'destroy' && !(await mayHaveResources(context.db, environment)))
    return endIdleDestroy(context, locked);
  const refusal = deployment.type === 'task' ? await taskRefusal(context.db, environment) : null;
  if (refusal === null) return null;
  return moveDeployment(context, locked, 'FAILURE', { error: JSON.stringify({ message: refusal }) });
}

/** @returns the environment as it is then */
export async function advanceQueue(
  context: Context,
  environment: LockedEnvironment,
): Promise<LockedEnvironment> {
  if (environment.is_locked) return environment;
  let current = environment;
  const open = await openDeployments(context.db, environment.id);
  const facts = open.map((row) => ({ id: row.id, type: row.type, status: row.status as DeploymentStatus }));
  const isStateLocked = open.length > 0 && (await getStateLock(context.db, environment.id)) !== undefined;
  for (const row of open) {
    if (row.status !== 'QUEUED' || waitsFor(row, facts) || (isStateLocked && isSerial(row.type))) continue;
    const started = await moveDeployment(context, { deployment: row, environment: current }, 'IN_PROGRESS');
    const ended = await endAtOnce(context, started);
    if (ended) return advanceQueue(context, ended.environment);
    current = started.environment;
    await startNow(context, started.deployment);
  }
  return current;
}
