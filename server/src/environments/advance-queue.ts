/** Starts what may start in an environment's queue: called whenever something ahead of it ended. */
import type { DeploymentStatus } from '#contract/enumerations.ts';
import { serialTypes } from '#contract/life-cycle.ts';
import type { Connection, Context } from '../context.ts';
import { enqueueJob } from '../queue/enqueue.ts';
import { type DeploymentRow, openDeployments } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { moveDeployment } from './move-deployment.ts';

/** What decides about a place in the queue. */
export interface QueuedFacts {
  readonly id: string;
  readonly type: string;
  readonly status: DeploymentStatus;
}

/** Whether a type waits its turn; the others run beside. */
export function isSerial(type: string): boolean {
  return (serialTypes as readonly string[]).includes(type);
}

/**
 * Which deployment one has to wait for; undefined: none. Pure.
 * A serial one waits for everything serial before it. One that runs beside waits only while somebody is asked for an approval.
 * @param open queued and active deployments of the environment, in the order of the queue
 */
export function waitsFor(candidate: Pick<QueuedFacts, 'id' | 'type'>, open: readonly QueuedFacts[]): QueuedFacts | undefined {
  const place = open.findIndex((each) => each.id === candidate.id);
  const ahead = place < 0 ? open : open.slice(0, place);
  return isSerial(candidate.type) ? ahead.find((each) => isSerial(each.type)) : ahead.find((each) => each.status === 'WAITING_FOR_USER');
}

/** Makes a deployment's plan available to agents. */
export async function startNow(tx: Connection, context: Context, deployment: DeploymentRow): Promise<void> {
  await enqueueJob(tx, context, { deploymentId: deployment.id, phase: 'plan', tool: deployment.blueprint_type, workFolder: null });
}

/** The caller holds the environment's row lock. */
export async function advanceQueue(tx: Connection, context: Context, environment: EnvironmentRow): Promise<void> {
  if (environment.is_locked) return;
  const open = await openDeployments(tx, environment.id);
  const facts = open.map((row) => ({ id: row.id, type: row.type, status: row.status as DeploymentStatus }));
  for (const row of open) {
    if (row.status !== 'QUEUED' || waitsFor(row, facts)) continue;
    await startNow(tx, context, await moveDeployment(tx, context, row, 'IN_PROGRESS'));
  }
}
