/** Starts what may start in an environment's queue: called whenever something ahead of it ended. */
import type { DeploymentStatus } from '#contract/enumerations.ts';
import type { Connection, Context } from '../context.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { type DeploymentRow, openDeployments } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { endIdleDestroy } from './end-idle-destroy.ts';
import { mayHaveResources } from './may-have-resources.ts';
import { moveDeployment } from './move-deployment.ts';
import { isSerial, waitsFor } from './queue-order.ts';
import { getStateLock } from './state-lock-store.ts';

/** Makes a deployment's plan available to agents. */
export async function startNow(tx: Connection, context: Context, deployment: DeploymentRow): Promise<void> {
  await enqueueJob(tx, context, { deploymentId: deployment.id, phase: 'plan', tool: deployment.blueprint_type, workFolder: null });
}

/** The caller holds the environment's row lock. */
export async function advanceQueue(tx: Connection, context: Context, environment: EnvironmentRow): Promise<void> {
  if (environment.is_locked) return;
  const open = await openDeployments(tx, environment.id);
  const facts = open.map((row) => ({ id: row.id, type: row.type, status: row.status as DeploymentStatus }));
  const isStateLocked = open.length > 0 && (await getStateLock(tx, environment.id)) !== undefined;
  for (const row of open) {
    if (row.status !== 'QUEUED' || waitsFor(row, facts) || (isStateLocked && isSerial(row.type))) continue;
    const started = await moveDeployment(tx, context, row, 'IN_PROGRESS');
    const isIdle = row.type === 'destroy' && !(await mayHaveResources(tx, environment));
    if (!isIdle) await startNow(tx, context, started);
    else {
      await endIdleDestroy(tx, context, started);
      return advanceQueue(tx, context, environment);
    }
  }
}
