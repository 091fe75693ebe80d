/** Sets the schedules of an environment: deploys, destroys and drift runs. */

import type {
  UpdateDriftScheduleBody,
  UpdateEnvironmentScheduleBody,
} from '#contract/schedules/operations.ts';
import type { DriftSchedule, EnvironmentSchedule } from '#contract/schedules/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField } from '../../ground/errors.ts';
import { type LockedEnvironment, updateEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import {
  getSchedule,
  listSchedules,
  putSchedule,
  removeSchedule,
  type ScheduledAction,
  type ScheduleRow,
} from '../../rows/schedules/schedule-store.ts';
import { lifespanColumns } from '../../tenancy/lifetimes/lifespan.ts';
import { readPolicySettings } from '../../tenancy/project-policies/policy-settings.ts';
import { appliesChanges } from '../../tenancy/project-policies/remediation-strategy.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import { checkedNextRun, checkedTimeZone, isSameRhythm, type Rhythm } from './cron.ts';
import { nextDriftRun } from './drift-rhythm.ts';
import { driftScheduleView, scheduleView } from './schedule-view.ts';

/** A schedule as a request sets it. */
interface RequestedSchedule extends Rhythm {
  readonly action: ScheduledAction;
  readonly isEnabled: boolean;
  readonly nextRunAt: Date | null;
}

/** @returns null where nothing is left to keep: no cron. */
function requestedSchedule(
  action: 'deploy' | 'destroy',
  body: { cron?: string; timeZone?: string; enabled?: boolean } | null | undefined,
  now: Date,
): RequestedSchedule | null {
  if (!body) return null;
  const cron = body.cron?.trim() ?? '';
  if (cron === '') {
    if (body.enabled) throw badField(`body.${action}.cron`, 'is required with enabled');
    return null;
  }
  const timeZone = checkedTimeZone(body.timeZone, `body.${action}.timeZone`);
  const next = checkedNextRun(cron, now, `body.${action}.cron`, timeZone);
  const isEnabled = body.enabled ?? true;
  return { action, cron, timeZone, isEnabled, nextRunAt: isEnabled ? next : null };
}

async function storeSchedule(
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
    time_zone: schedule.timeZone,
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

/** The pattern was checked. */
export async function storeDriftSchedule(
  context: ActorContext,
  environment: LockedEnvironment,
  schedule: Rhythm & {
    readonly isEnabled: boolean;
    readonly autoDriftRemediation?: ScheduleRow['auto_drift_remediation'];
  },
): Promise<ScheduleRow> {
  const nextRunAt = schedule.isEnabled ? nextDriftRun(schedule, environment.id, context.now()) : null;
  return storeSchedule(context, environment, { ...schedule, action: 'driftDetection', nextRunAt });
}

/** For the audit trail: the settings of each action. */
function audited(rows: readonly ScheduleRow[]) {
  return Object.fromEntries(
    rows.map(
      ({
        action,
        cron,
        time_zone: timeZone,
        is_enabled: isEnabled,
        auto_drift_remediation: autoDriftRemediation,
      }) => [
        action,
        { cron, timeZone, isEnabled, ...(action === 'driftDetection' ? { autoDriftRemediation } : {}) },
      ],
    ),
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
    if (deploy && destroy && isSameRhythm(deploy, destroy))
      throw badField('body.destroy.cron', 'must differ from that of deploy');
    const policy = await readPolicySettings(context.db, environment.project_id);
    if (destroy?.isEnabled && policy.disableDestroyEnvironments)
      throw badField(
        'body.destroy',
        'must be absent: the policy of the project lets no one destroy its environments (disableDestroyEnvironments)',
      );
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
    const strategy = body.autoDriftRemediation;
    if (appliesChanges(strategy) && known?.auto_drift_remediation !== strategy)
      requireRight(
        context.actor,
        inEnvironment(environment),
        'RUN_APPLY',
        `/body/autoDriftRemediation ${strategy}`,
      );
    const cron = body.cron === null ? '' : ((body.cron?.trim() || known?.cron) ?? '');
    if (cron === '' && body.enabled) throw badField('body.cron', 'is required with enabled');
    if (cron === '' && body.autoDriftRemediation === undefined && !known)
      return driftScheduleView(undefined, environment);
    const timeZone =
      body.timeZone === undefined && known
        ? known.time_zone
        : checkedTimeZone(body.timeZone, 'body.timeZone');
    const schedule = { cron, timeZone, isEnabled: body.enabled };
    if (cron !== '') checkedNextRun(cron, context.now(), 'body.cron');
    const row = await storeDriftSchedule(context, environment, {
      ...schedule,
      autoDriftRemediation: body.autoDriftRemediation ?? known?.auto_drift_remediation ?? null,
    });
    const details = { cron, enabled: body.enabled };
    const changes = changesOf(known ? audited([known]) : null, audited([row]));
    await recordEnvironmentAudit(context, environment, 'environment.driftScheduled', details, changes);
    await recordEnvironmentEvent(context, environment, 'schedule');
    return driftScheduleView(row, environment);
  });
}
