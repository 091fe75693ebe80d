/**
 * Writes what readers of a deployment's event stream get, in the transaction of the change, and wakes them.
 */
import type { Step } from '#contract/deployments/shapes.ts';
import type { Context } from '../../framework/context.ts';
import { deploymentChannel, type NewEvent } from '../../rows/feeds/event-store.ts';
import { tell } from '../../rows/feeds/news-store.ts';
import { recordOrganizationEvents } from '../../rows/feeds/organization-news-store.ts';

/**
 * Keeps events in their order; of readers, only those of the organization are woken. The caller has locked
 * the environment or the deployment: event numbers of one deployment then commit in order.
 */
async function insertEvents(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  deploymentId: string,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ name, data }) => ({ deployment_id: deploymentId, name, data }));
  await tell(context.db, (news) => news.events.push(...rows));
  const steps = events.filter(({ name }) => name === 'step').map(({ data }) => data as Step);
  await recordOrganizationEvents(
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
  context: Pick<Context, 'db' | 'events' | 'now'>,
  deploymentId: string,
  name: string,
  data: unknown,
): Promise<void> {
  await insertEvents(context, deploymentId, [{ name, data }]);
  await context.events.publish(context.db, deploymentChannel(deploymentId));
}
