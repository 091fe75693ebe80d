/** Writes what readers of a deployment's event stream get, in the transaction of the change, and wakes them. */
import type { DeploymentStatus } from '#contract/enumerations.ts';
import { isTerminal } from '#contract/life-cycle.ts';
import type { Connection, Context } from '../context.ts';
import type { DeploymentRow } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { waitingFor } from './waiting-for.ts';

/** The channel on which readers of a deployment are woken. */
export function deploymentChannel(deploymentId: string): string {
  return `deployment:${deploymentId}`;
}

export interface NewEvent {
  /** One of the contract's event names, or one that only our own records have. */
  readonly name: string;
  readonly data: unknown;
}

/**
 * Keeps events in their order, without waking anybody.
 * The caller holds the environment's or the deployment's row lock: event numbers of one deployment then commit in order.
 */
export async function insertEvents(tx: Connection, deploymentId: string, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ name, data }) => ({ deployment_id: deploymentId, name, data: JSON.stringify(data) }));
  await tx.insertInto('deployment_event').values(rows).execute();
}

/** Keeps one event as `insertEvents` does, and wakes the readers. */
export async function recordEvent(
  tx: Connection,
  context: Pick<Context, 'events'>,
  deploymentId: string,
  name: string,
  data: unknown,
): Promise<void> {
  await insertEvents(tx, deploymentId, [{ name, data }]);
  await context.events.publish(tx, deploymentChannel(deploymentId));
}

/** Tells readers where a deployment stands now; the last of these is its end. */
export async function recordStatus(tx: Connection, context: Context, row: DeploymentRow, environment: EnvironmentRow): Promise<void> {
  const status = row.status as DeploymentStatus;
  const both = { status, environmentStatus: environment.status };
  const times = { startedAt: row.started_at, finishedAt: row.finished_at };
  await recordEvent(tx, context, row.id, 'status', { ...both, ...times, waitingFor: await waitingFor(tx, context, row) });
  if (isTerminal(status)) await recordEvent(tx, context, row.id, 'end', both);
}
