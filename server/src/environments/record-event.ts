/**
 * Writes what readers of a deployment's event stream get, in the transaction of the change, and wakes them.
 */
import type { Step } from '#contract/deployment.ts';
import type { DeploymentStatus } from '#contract/enumerations.ts';
import { isTerminal } from '#contract/life-cycle.ts';
import type { Connection, Context } from '../context.ts';
import type { DeploymentRow } from './deployment-store.ts';
import type { EnvironmentRow } from './environment-store.ts';
import { recordOrganizationEvents } from './organization-events.ts';
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
 * Keeps events in their order; of readers, only those of the organization are woken. The caller holds the
 * environment's or the deployment's row lock: event numbers of one deployment then commit in order.
 */
export async function insertEvents(
  tx: Connection,
  context: Pick<Context, 'events' | 'now'>,
  deploymentId: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ name, data }) => ({
    deployment_id: deploymentId,
    name,
    data: JSON.stringify(data),
  }));
  await tx.insertInto('deployment_event').values(rows).execute();
  const steps = events.filter(({ name }) => name === 'step').map(({ data }) => data as Step);
  await recordOrganizationEvents(
    tx,
    context,
    steps.map((step) => ({
      organizationId: step.organizationId,
      projectId: step.projectId,
      environmentId: step.environmentId ?? '',
      deploymentId,
      name: 'step',
      data: step,
    })),
  );
}

/** Keeps one event as `insertEvents` does, and wakes the readers. */
export async function recordEvent(
  tx: Connection,
  context: Pick<Context, 'events' | 'now'>,
  deploymentId: string,
  name: string,
  data: unknown,
): Promise<void> {
  await insertEvents(tx, context, deploymentId, [{ name, data }]);
  await context.events.publish(tx, deploymentChannel(deploymentId));
}

/** Tells readers where a deployment stands now; the last of these is its end. */
export async function recordStatus(
  tx: Connection,
  context: Context,
  row: DeploymentRow,
  environment: EnvironmentRow,
): Promise<void> {
  const status = row.status as DeploymentStatus;
  const both = { status, environmentStatus: environment.status };
  const data = {
    ...both,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    waitingFor: await waitingFor(tx, context, row),
  };
  await recordEvent(tx, context, row.id, 'status', data);
  const place = { projectId: row.project_id, environmentId: row.environment_id };
  await recordOrganizationEvents(tx, context, [
    {
      ...place,
      organizationId: row.organization_id,
      deploymentId: row.id,
      name: 'deployment',
      data: { ...place, deploymentLogId: row.id, type: row.type, ...data },
    },
  ]);
  if (isTerminal(status)) await recordEvent(tx, context, row.id, 'end', both);
}
