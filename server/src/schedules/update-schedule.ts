/** Sets the schedules of an environment: deploys, destroys and drift runs. */
import type { DriftSchedule, EnvironmentSchedule } from '#contract/schedules/shapes.ts';
import type {
  UpdateDriftScheduleBody,
  UpdateEnvironmentScheduleBody,
} from '#contract/schedules/operations.ts';
import { changesOf } from '../audit/changes.ts';
import { recordEnvironmentAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField } from '../http/errors.ts';
import { checkedNextRun, isSamePattern } from './cron.ts';
import {
  type LockedEnvironment,
  requireEnvironment,
  updateEnvironmentRow,
} from '../environments/environment-store.ts';
import { lifespanColumns } from '../lifetimes/lifespan.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import {
  getSchedule,
  listSchedules,
  putSchedule,
  removeSchedule,
  type ScheduledAction,
  type ScheduleRow,
} from './schedule-store.ts';
import { driftScheduleView, scheduleView } from './schedule-view.ts';

/** A schedule as a request sets it. */
interface RequestedSchedule {
  readonly action: ScheduledAction;
  readonly cron: string;
  readonly isEnabled: boolean;
  readonly nextRunAt: Date | null;
}

/** @returns null where nothing is left to keep: no cron. */
function requestedSchedule(
  action: 'deploy' | 'destroy',
  body: { cron?: string; enabled?: boolean } | null | undefined,
  now: Date,
): RequestedSchedule | null {
  if (!body) return null;
  const cron = body.cron?.trim() ?? '';
  if (cron === '') {
    if (body.enabled) throw badField(`body.${action}.cron`, 'is required with enabled');
    return null;
  }
  const next = checkedNextRun(cron, now, `body.${action}.cron`);
  const isEnabled = body.enabled ?? true;
  return { action, cron, isEnabled, nextRunAt: isEnabled ? next : null };
}

export async function storeSchedule(
  context: ActorContext,
  { id: environmentId }: LockedEnvironment,
  schedule: RequestedSchedule & {
    readonly autoDriftRemediation?: ScheduleRow['auto_drift_remediation'];
  },
): Promise<ScheduleRow> {
  const now = context.now();
  return putSchedule(context.db, {
    environment_id: environmentId,
    action: schedule.action,
    id: context.newId(),
    cron: schedule.cron,
    is_enabled: schedule.isEnabled,
    next_run_at: schedule.nextRunAt,
    ...(schedule.autoDriftRemediation === undefined
      ? {}
      : { auto_drift_remediation: schedule.autoDriftRemediation }),
    created_by: context.actor.userId,
    set_by: context.actor.userId,
    created_at: now,
    updated_at: now,
  });
}

/** For the audit trail: the settings of each action. */
function audited(rows: readonly ScheduleRow[]) {
  return Object.fromEntries(
    rows.map(({ action, cron, is_enabled: isEnabled, auto_drift_remediation: autoDriftRemediation }) => [
      action,
      { cron, isEnabled, ...(action === 'driftDetection' ? { autoDriftRemediation } : {}) },
    ]),
  );
}

/**
 * The right was checked. Accepted from the creation of the environment on: clients create both at once.
 * @throws Refusal 400 that names the field
 */
export async function updateEnvironmentSchedule(
  context: ActorContext,
  id: string,
  body: UpdateEnvironmentScheduleBody,
): Promise<EnvironmentSchedule> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const now = context.now();
    const deploy = requestedSchedule('deploy', body.deploy, now);
    const destroy = requestedSchedule('destroy', body.destroy, now);
    if (deploy && destroy && isSamePattern(deploy.cron, destroy.cron))
      throw badField('body.destroy.cron', 'must differ from that of deploy');
    const before = await listSchedules(context.db, [id]);
    const isAnyEnabled = [deploy, destroy].some((each) => each?.isEnabled);
    for (const [action, each] of [
      ['deploy', deploy],
      ['destroy', destroy],
    ] as const) {
      if (each) await storeSchedule(context, environment, each);
      else await removeSchedule(context.db, environment, action);
    }
    const ended =
      isAnyEnabled && environment.lifespan_end_at ? lifespanColumns({ type: 'INFINITE' }, null, now) : {};
    const updated = await updateEnvironmentRow(context.db, environment, { ...ended, updated_at: now });
    const after = await listSchedules(context.db, [id]);
    const details = { deploy: deploy?.cron ?? null, destroy: destroy?.cron ?? null };
    const changes = changesOf(audited(before), audited(after));
    await recordEnvironmentAudit(context, updated, 'environment.scheduled', details, changes);
    await recordEnvironmentEvent(context, updated, 'schedule');
    return scheduleView(after, updated);
  });
}

/** The right was checked. Omitted settings are unchanged. @throws Refusal 400 that names the field */
export async function updateDriftSchedule(
  context: ActorContext,
  id: string,
  body: UpdateDriftScheduleBody,
): Promise<DriftSchedule> {
  return inTransaction(context, async (context) => {
    const environment = await requireEnvironment(context, id);
    const known = await getSchedule(context.db, id, 'driftDetection');
    const cron = (body.cron?.trim() || known?.cron) ?? '';
    if (cron === '' && body.enabled) throw badField('body.cron', 'is required with enabled');
    if (cron === '' && body.autoDriftRemediation === undefined)
      return driftScheduleView(undefined, environment);
    // What is only switched off need not be a pattern: older versions took others.
    const next = body.enabled || body.cron?.trim() ? checkedNextRun(cron, context.now(), 'body.cron') : null;
    const row = await storeSchedule(context, environment, {
      action: 'driftDetection',
      cron,
      isEnabled: body.enabled,
      nextRunAt: body.enabled ? next : null,
      autoDriftRemediation: body.autoDriftRemediation ?? known?.auto_drift_remediation ?? null,
    });
    const details = { cron, enabled: body.enabled };
    const changes = changesOf(known ? audited([known]) : null, audited([row]));
    await recordEnvironmentAudit(context, environment, 'environment.driftScheduled', details, changes);
    await recordEnvironmentEvent(context, environment, 'schedule');
    return driftScheduleView(row, environment);
  });
}
