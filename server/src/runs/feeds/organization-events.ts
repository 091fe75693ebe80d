/** Environment events in an organization's stream, and the time for which they are kept. */
import type { environmentChanges } from '#contract/feeds/shapes.ts';
import type { Context } from '../../framework/context.ts';
import type { EnvironmentRow } from '../../rows/environments/environment-store.ts';
import { deleteOrganizationEvents } from '../../rows/feeds/event-store.ts';
import { recordOrganizationEvents } from '../../rows/feeds/organization-news-store.ts';

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
  while (!context.stopping.aborted && (await deleteOrganizationEvents(context.db, before)));
}
