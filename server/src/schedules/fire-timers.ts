/**
 * Loop: expiry, the notices before it, and schedules that are due. Each is handled by one server: under the
 * row lock of its environment, which others skip, and rescheduled in the transaction that acts. Missed ticks
 * are skipped.
 */
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { systemUserId, actorWithoutRights } from '../access/actor.ts';
import type { ActorContext, Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { Refusal } from '../http/errors.ts';
import { nextRun } from './cron.ts';
import { hasSucceeded, openDeployments } from '../deployments/deployment-store.ts';
import {
  type IdleEnvironments,
  type LockedEnvironment,
  lockIdleEnvironment,
  updateEnvironmentRow,
} from '../environments/environment-store.ts';
import { nextTtlStep, noticesDue } from '../lifetimes/lifespan.ts';
import { recordEnvironmentEvent } from '../feeds/organization-events.ts';
import {
  listDueSchedules,
  listMissedSchedules,
  listUndatedSchedules,
  type ScheduleRow,
  setFirstRun,
  skipRun,
  updateSchedule,
  withDueSchedule,
} from './schedule-store.ts';
import { startDeployment } from '../deployments/start-deployment.ts';
import type { StartRequest } from '../deployments/start-facts.ts';
import { getProjectRow } from '../projects/project-store.ts';

export const timersEverySeconds = 5;
/**
 * A schedule that is later than this, while nobody looked, has been missed: the service was down, or the
 * environment locked.
 */
const lateSeconds = 60;

/** When the pass before began and ended, by service. */
const passes = new WeakMap<Context, { readonly began: Date; readonly ended: Date }>();

/**
 * Since when nothing that was due can have been missed: a pass that takes long makes what comes meanwhile
 * late, not missed.
 */
function watchedSince(context: Context, began: Date): Date {
  const usual = new Date(began.getTime() - lateSeconds * 1000);
  const last = passes.get(context);
  return last && last.ended > usual && last.began < usual ? last.began : usual;
}

function asService(context: Context): ActorContext {
  return {
    ...context,
    actor: actorWithoutRights(systemUserId, 'Envarium'),
    requestId: 'timer',
  };
}

const nothingElse = { targets: [], variableChanges: [], variableFields: [] } as const;

/**
 * What may be refused (locked meanwhile, nothing to destroy) is refused to nobody. @returns whether a
 * deployment was made
 */
async function start(
  context: Context,
  environment: LockedEnvironment,
  request: Pick<
    StartRequest,
    'type' | 'trigger' | 'isScheduledRun' | 'followsLastDeploy' | 'comment' | 'requestedBy'
  >,
): Promise<boolean> {
  try {
    await startDeployment(asService(context), environment, { ...nothingElse, ...request });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    context.log.info(
      { environmentId: environment.id, type: request.type, reason: error.message },
      'a timer did not start a deployment',
    );
    return false;
  }
}

interface Timer {
  /** Narrows to what is due. */
  find(idle: IdleEnvironments, now: Date): IdleEnvironments;
  /** Acts on the environment, and moves it on so that it is not found again. */
  fire(context: Context, environment: LockedEnvironment, since: Date): Promise<void>;
}

async function fireTtl(context: Context, environment: LockedEnvironment): Promise<void> {
  const now = context.now();
  const end = environment.lifespan_end_at;
  if (!end) return void (await updateEnvironmentRow(context.db, environment, { next_ttl_at: null }));
  // After an unlock, the destroy comes later than the end.
  const isOver = end <= now;
  const marked = await updateEnvironmentRow(context.db, environment, {
    next_ttl_at: isOver ? null : nextTtlStep(end, now),
    marked_for_auto_destroy: isOver ? environment.marked_for_auto_destroy : noticesDue(end, now),
  });
  if (!isOver) return recordEnvironmentEvent(context, marked, 'markedForAutoDestroy');
  await start(context, marked, {
    type: 'destroy',
    trigger: 'ttl',
    followsLastDeploy: true,
    comment: `Expired at ${end.toISOString()}`,
  });
}

const requestOf = {
  deploy: { type: 'deploy', trigger: 'scheduled', isScheduledRun: true },
  destroy: { type: 'destroy', trigger: 'scheduled', isScheduledRun: true, followsLastDeploy: true },
  driftDetection: { type: 'driftDetection', trigger: 'driftDetection', isScheduledRun: true },
} as const satisfies Record<
  string,
  Pick<StartRequest, 'type' | 'trigger' | 'isScheduledRun' | 'followsLastDeploy'>
>;

/** Runs of one schedule do not pile up behind a missing approval. */
async function isUnderWay(tx: Connection, environmentId: string, type: string): Promise<boolean> {
  const open = await openDeployments(tx, environmentId);
  return open.some((row) => row.type === type && row.is_scheduled_run && !isTerminal(row.status));
}

async function isArchivedProject(tx: Connection, projectId: string): Promise<boolean> {
  const project = await getProjectRow(tx, projectId);
  return project?.is_archived ?? true;
}

async function runSchedule(
  context: Context,
  environment: LockedEnvironment,
  schedule: ScheduleRow,
): Promise<void> {
  const request = requestOf[schedule.action as keyof typeof requestOf];
  const isLooking = schedule.action === 'driftDetection';
  // A schedule repeats what has worked once: until then its ticks are skipped.
  if (!isLooking && !(await hasSucceeded(context.db, environment.id))) return;
  if (isLooking && environment.status !== 'ACTIVE') return;
  if (await isArchivedProject(context.db, environment.project_id)) return;
  if (!(await isUnderWay(context.db, environment.id, request.type)))
    await start(context, environment, { ...request, requestedBy: schedule.set_by ?? schedule.created_by });
}

async function fireSchedules(context: Context, environment: LockedEnvironment, since: Date): Promise<void> {
  const now = context.now();
  // Read again under the lock: another server may have been here in between.
  for (const schedule of await listDueSchedules(context.db, environment.id, now)) {
    await updateSchedule(context.db, schedule.id, { next_run_at: nextRun(schedule.cron, now) });
    const isMissed = (schedule.next_run_at ?? now) < since;
    if (isMissed)
      context.log.warn(
        { environmentId: environment.id, action: schedule.action },
        'a scheduled run was missed',
      );
    else await runSchedule(context, environment, schedule);
  }
}

const timers: readonly Timer[] = [
  { find: (idle, now) => idle.where('next_ttl_at', '<=', now).orderBy('next_ttl_at'), fire: fireTtl },
  {
    find: withDueSchedule,
    fire: fireSchedules,
  },
];

/** Ticks during a lock or while archived are not made up afterwards. */
async function passOver(context: Context): Promise<void> {
  const before = new Date(context.now().getTime() - lateSeconds * 1000);
  for (const { id, cron, next_run_at } of await listMissedSchedules(context.db, before))
    await skipRun(context.db, { id, next_run_at }, nextRun(cron, context.now()));
}

/** @returns null for a pattern that only older versions accepted */
function firstRun(context: Context, { environment_id: environmentId, cron }: ScheduleRow): Date | null {
  try {
    return nextRun(cron, context.now());
  } catch (error) {
    context.log.warn(
      { environmentId, cron, err: error },
      'a schedule was disabled: its cron expression is not valid',
    );
    return null;
  }
}

/** Schedules that were stored without a next date; one that has none is disabled. */
async function findDates(context: Context): Promise<void> {
  for (const row of await listUndatedSchedules(context.db)) {
    const next = firstRun(context, row);
    await setFirstRun(context.db, row, next ? { next_run_at: next } : { is_enabled: false });
  }
}

/** One that fails is tried again in the next pass, and does not delay others. */
async function drain(context: Context, { find, fire }: Timer, since: Date): Promise<void> {
  const failed: string[] = [];
  for (let isMore = true; isMore; ) {
    let current: string | undefined;
    try {
      isMore = await inTransaction(context, async (context) => {
        const environment = await lockIdleEnvironment(context.db, failed, (idle) =>
          find(idle, context.now()),
        );
        current = environment?.id;
        if (environment) await fire(context, environment, since);
        return environment !== undefined;
      });
    } catch (error) {
      if (current === undefined) throw error;
      context.log.error({ err: error, environmentId: current }, 'a timer of an environment failed');
      failed.push(current);
    }
  }
}

/** One pass: everything that is due now. */
export async function fireTimers(context: Context): Promise<void> {
  const began = context.now();
  const since = watchedSince(context, began);
  // Nobody stores one without a date while this runs.
  if (!passes.has(context)) await findDates(context);
  await passOver(context);
  for (const timer of timers) await drain(context, timer, since);
  passes.set(context, { began, ended: context.now() });
}
