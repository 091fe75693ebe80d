/**
 * Writes what readers of an organization's event stream get, in the transaction of the change, and wakes them.
 */
import type { OrganizationChangeEvent, organizationEventData } from '#contract/feeds/shapes.ts';
import type { Context } from '../../framework/context.ts';
import type { Place } from '../places.ts';
import { tell } from './news-store.ts';

/** The channel on which readers of an organization are woken. */
export function organizationChannel(organizationId: string): string {
  return `organization:${organizationId}`;
}

export interface NewOrganizationEvent extends Place {
  readonly deploymentId?: string;
  readonly name: Exclude<keyof typeof organizationEventData, 'ready' | 'reset' | 'deploymentEvent'>;
  readonly data: unknown;
}

/** Keeps the events in their order and wakes the readers when the transaction commits. */
export async function recordOrganizationEvents(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  events: readonly NewOrganizationEvent[],
): Promise<void> {
  const [first] = events;
  if (!first) return;
  const rows = events.map((event) => ({
    organization_id: event.organizationId,
    project_id: event.projectId,
    environment_id: event.environmentId,
    deployment_id: event.deploymentId ?? null,
    name: event.name,
    data: event.data,
    at: context.now(),
  }));
  await tell(context.db, (news) => news.organizationEvents.push(...rows));
  await context.events.publish(context.db, organizationChannel(first.organizationId));
}

/** Something in an organization that was created, changed or deleted. */
export type OrganizationChange = Place & Omit<OrganizationChangeEvent, 'projectId' | 'environmentId'>;

/** Tells readers that a list has changed. */
export async function recordChange(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  { organizationId, projectId, environmentId, entity, id }: OrganizationChange,
): Promise<void> {
  const data: OrganizationChangeEvent = {
    entity,
    id,
    ...(projectId === null ? {} : { projectId }),
    ...(environmentId === null ? {} : { environmentId }),
  };
  const place = { organizationId, projectId, environmentId };
  await recordOrganizationEvents(context, [{ ...place, name: 'changed', data }]);
}
