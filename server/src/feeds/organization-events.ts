/**
 * Writes what readers of an organization's event stream get, in the transaction of the change, and wakes
 * them.
 */
import type { environmentChanges, organizationEventData } from '#contract/feeds/shapes.ts';
import type { Context } from '../context.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { deleteOrganizationEvents } from './event-store.ts';
import { tell } from './news-store.ts';

/** The channel on which readers of an organization are woken. */
export function organizationChannel(organizationId: string): string {
  return `organization:${organizationId}`;
}

export interface NewOrganizationEvent {
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly deploymentId?: string;
  readonly name: Exclude<keyof typeof organizationEventData, 'ready' | 'reset'>;
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

export type EnvironmentChange = (typeof environmentChanges)[number];

/** Tells readers what happened to an environment. @param environment as it is now */
export async function recordEnvironmentEvent(
  context: Pick<Context, 'db' | 'events' | 'now'>,
  environment: EnvironmentRow,
  change: EnvironmentChange,
  more: { readonly fromProjectId?: string } = {},
): Promise<void> {
  const data = {
    projectId: environment.project_id,
    environmentId: environment.id,
    change,
    name: environment.name,
    status: environment.status,
    ...(change === 'markedForAutoDestroy'
      ? { markedForAutoDestroy: environment.marked_for_auto_destroy }
      : {}),
    ...more,
  };
  const place = {
    organizationId: environment.organization_id,
    projectId: environment.project_id,
    environmentId: environment.id,
  };
  await recordOrganizationEvents(context, [{ ...place, name: 'environment', data }]);
}

/** Events of an organization are kept this long; readers that return later read the lists again. */
export const keptDays = 7;

/** Loop: removes events that are too old for readers. */
export async function forgetOrganizationEvents(context: Context): Promise<void> {
  const before = new Date(context.now().getTime() - keptDays * 86_400_000);
  await deleteOrganizationEvents(context.db, before);
}
