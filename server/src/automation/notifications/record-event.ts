/** Writes the deliveries of an event, in the transaction of what happened: only where an endpoint hears of it. */
import type { NotificationEvent } from '#contract/notifications/events.ts';
import type { Context } from '../../framework/context.ts';
import type { LifetimeNotice, ReactionPayloads, Reactions } from '../../framework/reactions.ts';
import { endpointsThatHear } from '../../rows/notifications/assignment-store.ts';
import { deliveriesChannel, insertDeliveries } from '../../rows/notifications/delivery-store.ts';
import type { EventFacts } from '../../rows/notifications/stored-facts.ts';
import { deploymentFacts, environmentFacts } from './event-facts.ts';
import { eventOfMove } from './event-of-move.ts';
import { hasAssignments } from './notified-organizations.ts';

const hourMilliseconds = 3_600_000;

/** Time for which an endpoint that does not accept a notification is tried. */
export function giveUpAfter(from: Date): Date {
  return new Date(from.getTime() + 24 * hourMilliseconds);
}

async function recordEvent(
  context: Context,
  event: NotificationEvent,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
  facts: () => EventFacts,
): Promise<void> {
  if (!(await hasAssignments(context, organizationId))) return;
  const endpointIds = await endpointsThatHear(context.db, projectId, event);
  if (endpointIds.length === 0) return;
  const at = context.now();
  await insertDeliveries(context.db, {
    eventId: context.newId(),
    event,
    facts: facts(),
    at,
    giveUpAt: giveUpAfter(at),
    endpoints: new Map(endpointIds.map((endpointId) => [context.newId(), endpointId])),
  });
  await context.events.publish(context.db, deliveriesChannel);
}

async function recordMove(context: Context, move: ReactionPayloads['deploymentMoved']): Promise<void> {
  const { deployment, environment, from, driftBefore } = move;
  const { type, status: to, drift_detected: driftDetected } = deployment;
  const event = eventOfMove({ type, from, to, driftDetected, driftBefore });
  if (event === null) return;
  const place = { organizationId: deployment.organization_id, projectId: deployment.project_id };
  await recordEvent(context, event, place, () => ({
    environment: environmentFacts(environment),
    deployment: deploymentFacts(deployment),
    lifetime: null,
  }));
}

const lifetimeEvents = {
  markedForAutoDestroy: 'environmentMarkedForAutoDestroy',
  autoDestroyRetried: 'environmentAutoDestroyRetried',
} as const satisfies Record<LifetimeNotice['notice'], NotificationEvent>;

async function recordLifetime(context: Context, noticed: LifetimeNotice): Promise<void> {
  const { environment, notice, destroyAt, reason } = noticed;
  const place = { organizationId: environment.organization_id, projectId: environment.project_id };
  await recordEvent(context, lifetimeEvents[notice], place, () => ({
    environment: environmentFacts(environment),
    deployment: null,
    lifetime: { destroyAt: destroyAt.toISOString(), reason },
  }));
}

export const notificationReactions: Reactions<Context> = {
  deploymentMoved: [recordMove],
  lifetimeNoticed: [recordLifetime],
};
