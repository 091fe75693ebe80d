/** Effects of a changed project policy on environments. */
import { changesOf } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import type { ChangingPolicy } from '../../framework/reactions.ts';
import {
  type LockedEnvironment,
  lockEnding,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import { hasSchedule, listSchedules, removeSchedule } from '../../rows/schedules/schedule-store.ts';
import { lifespanColumns } from '../../tenancy/lifetimes/lifespan.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';

const details = { reason: 'disableDestroyEnvironments' };

async function removeEnd(context: ActorContext, environment: LockedEnvironment): Promise<void> {
  const now = context.now();
  const columns = lifespanColumns({ type: 'INFINITE' }, null, now);
  const updated = await updateEnvironmentRow(context.db, environment, { ...columns, updated_at: now });
  const before = { lifespanEndAt: environment.lifespan_end_at?.toISOString() ?? null };
  const changes = changesOf(before, { lifespanEndAt: null });
  await recordEnvironmentAudit(context, updated, 'environment.ttlUpdated', details, changes);
  await recordEnvironmentEvent(context, updated, 'ttl');
}

async function removeDestroySchedule(context: ActorContext, environment: LockedEnvironment): Promise<void> {
  const schedules = await listSchedules(context.db, [environment.id]);
  const known = schedules.find(({ action }) => action === 'destroy');
  if (!known) return;
  await removeSchedule(context.db, environment, 'destroy');
  const before = { destroy: { cron: known.cron, isEnabled: known.is_enabled } };
  const changes = changesOf(before, { destroy: null });
  await recordEnvironmentAudit(context, environment, 'environment.scheduled', details, changes);
  await recordEnvironmentEvent(context, environment, 'schedule');
}

/** It can no longer be destroyed: it neither expires, nor is it destroyed at set times. */
export async function removeEnds(context: ActorContext, environment: LockedEnvironment): Promise<void> {
  if (environment.lifespan_end_at) await removeEnd(context, environment);
  await removeDestroySchedule(context, environment);
}

/** Lifetimes and destroy schedules go when a policy begins to disable destroys. */
export async function followPolicy(
  context: Context,
  { projectId, before, after, by }: ChangingPolicy,
): Promise<void> {
  if (!after.disableDestroyEnvironments || before.disableDestroyEnvironments) return;
  for (const environment of await lockEnding(context.db, projectId, (id) => hasSchedule(id, 'destroy')))
    await removeEnds({ ...context, ...by }, environment);
}
