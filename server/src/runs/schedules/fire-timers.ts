/**
 * Loop: expiry, the notices before it, and schedules that are due. Each is handled by one server: under the
 * row lock of its environment, which others skip, and rescheduled in the transaction that acts. Missed ticks
 * are skipped.
 */
import { isTerminal } from '#contract/life-cycle/life-cycle.ts';
import { actorWithoutRights } from '../../framework/access/actor.ts';
import { recordEnvironmentAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Refusal } from '../../ground/errors.ts';
import { hasSucceeded, openDeployments } from '../../rows/deployments/deployment-store.ts';
import {
  type LockedEnvironment,
  listExpiring,
  lockIdleEnvironment,
  nextExpiryAt,
  updateEnvironmentRow,
} from '../../rows/environments/environment-store.ts';
import {
  listDueEnvironments,
  listDueSchedules,
  listMissedSchedules,
  nextScheduleAt,
  type ScheduleRow,
  skipRun,
  updateSchedule,
} from '../../rows/schedules/schedule-store.ts';
import { systemUserId } from '../../rows/users/user-store.ts';
import { nextTtlStep, noticesDue, refusalOfExpired } from '../../tenancy/lifetimes/lifespan.ts';
import { afterAttempt } from '../../tenancy/lifetimes/retry-destroy.ts';
import { loadStartFacts, type StartRequest, type StoredFacts } from '../deployments/inputs/start-facts.ts';
import { startDeployment } from '../deployments/start-deployment.ts';
import { publishLifetime } from '../feeds/publish-lifetime.ts';
import { nextRunOf } from './next-run.ts';

/** The longest pause between two passes; a timer that comes earlier ends it. */
export const timersEverySeconds = 2;
/** A schedule that is later than this has been missed while no server looked: long enough for a restart. */
const outageSeconds = 300;
/** Environments that one server handles at the same time: they leave most connections to requests. */
const lanes = 5;
/** Number of due environments that are read at a time. */
const readAtOnce = 200;
/** More than this are shared with other servers. */
const sharedAbove = 100;

/** When the pass before began and ended, by service. */
const passes = new WeakMap<Context, { readonly began: Date; readonly ended: Date }>();

/**
 * Since when nothing that was due can have been missed: a pass that takes long makes what comes during it
 * late, not missed.
 */
function watchedSince(context: Context, began: Date): Date {
  const usual = new Date(began.getTime() - outageSeconds * 1000);
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

/**
 * Refusals (locked by now, nothing to destroy) have no caller to report to.
 * @returns why no deployment was made; null where one was
 */
async function start(
  context: Context,
  facts: StoredFacts,
  request: Pick<
    StartRequest,
    'type' | 'trigger' | 'isScheduledRun' | 'followsLastDeploy' | 'comment' | 'requestedBy'
  >,
): Promise<string | null> {
  try {
    await startDeployment(asService(context), facts, { targets: [], ...request });
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    context.log.info(
      { environmentId: facts.environment.id, type: request.type, reason: error.message },
      'a timer did not start a deployment',
    );
    return error.message;
  }
}

interface Timer {
  /** Ids of environments for which something is due, the most overdue first. */
  due(db: Connection, now: Date, except: readonly string[], limit: number): Promise<string[]>;
  /** Acts on the environment if something is due, and moves it on so that it is not found again. */
  fire(context: Context, environment: LockedEnvironment, since: Date): Promise<void>;
  /** Moves on an environment on which acting failed; without it, the next pass tries again. */
  failed?(context: Context, environment: LockedEnvironment): Promise<void>;
}

/** The destroy at the end comes again later. */
async function postponeEnd(context: Context, environment: LockedEnvironment, problem: string): Promise<void> {
  const columns = afterAttempt(environment, problem, context.now());
  const postponed = await updateEnvironmentRow(context.db, environment, columns);
  await publishLifetime(context, postponed, 'autoDestroyFailed');
}

/** Whether nothing is left to destroy, or a destroy is under way: its result decides. */
async function isSettled(tx: Connection, { id, status }: LockedEnvironment): Promise<boolean> {
  if (status === 'INACTIVE' || status === 'NEVER_DEPLOYED') return true;
  return (await openDeployments(tx, id)).some((row) => row.type === 'destroy' && !isTerminal(row.status));
}

async function destroyExpired(context: Context, environment: LockedEnvironment, end: Date): Promise<void> {
  const ended = await updateEnvironmentRow(context.db, environment, { next_ttl_at: null });
  const facts = await loadStartFacts(asService(context), ended, 'destroy');
  const refusal = await start(context, facts, {
    type: 'destroy',
    trigger: 'ttl',
    followsLastDeploy: true,
    comment: `Expired at ${end.toISOString()}`,
    ...(ended.ttl_set_by === null ? {} : { requestedBy: ended.ttl_set_by }),
  });
  if (refusal !== null && !(await isSettled(context.db, ended))) await postponeEnd(context, ended, refusal);
}

async function fireTtl(context: Context, environment: LockedEnvironment): Promise<void> {
  const now = context.now();
  const { lifespan_end_at: end, next_ttl_at: next } = environment;
  // Another server may have been here since it was listed.
  if (!next || next > now) return;
  if (!end) return void (await updateEnvironmentRow(context.db, environment, { next_ttl_at: null }));
  // After an unlock, the destroy comes later than the end.
  if (end <= now) return destroyExpired(context, environment, end);
  const marked = await updateEnvironmentRow(context.db, environment, {
    next_ttl_at: nextTtlStep(end, now),
    marked_for_auto_destroy: noticesDue(end, now),
  });
  return publishLifetime(context, marked, 'markedForAutoDestroy');
}

async function ttlFailed(context: Context, environment: LockedEnvironment): Promise<void> {
  const { lifespan_end_at: end, next_ttl_at: next } = environment;
  const now = context.now();
  if (end && next && end <= now && next <= now)
    await postponeEnd(context, environment, 'the service could not start the destroy; its log says more');
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
function isUnderWay({ open }: StoredFacts, type: string): boolean {
  return open.some((row) => row.type === type && row.is_scheduled_run && !isTerminal(row.status));
}

async function runSchedule(
  context: Context,
  environment: LockedEnvironment,
  schedule: ScheduleRow,
): Promise<void> {
  const request = requestOf[schedule.action as keyof typeof requestOf];
  const isLooking = schedule.action === 'driftDetection';
  if (isLooking && environment.status !== 'ACTIVE') return;
  const [isReady, facts] = await Promise.all([
    // A schedule repeats what has worked once: until then its ticks are skipped.
    isLooking || hasSucceeded(context.db, environment.id),
    loadStartFacts(asService(context), environment, request.type),
  ]);
  if (!isReady || facts.archivedProject !== null || isUnderWay(facts, request.type)) return;
  const requestedBy = schedule.set_by ?? schedule.created_by;
  const expired = request.type === 'deploy' ? refusalOfExpired(environment, context.now()) : null;
  const refusal = expired ?? (await start(context, facts, { ...request, requestedBy }));
  if (refusal === null) return;
  const isPointless = request.type === 'destroy' && (await isSettled(context.db, environment));
  if (!isPointless)
    await recordEnvironmentAudit(asService(context), environment, 'environment.scheduledRunRefused', {
      type: request.type,
      reason: refusal,
    });
}

async function fireSchedules(context: Context, environment: LockedEnvironment, since: Date): Promise<void> {
  const now = context.now();
  // Read again under the lock: another server may have been here in between.
  for (const schedule of await listDueSchedules(context.db, environment.id, now)) {
    await updateSchedule(context.db, schedule.id, { next_run_at: nextRunOf(schedule, now) });
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
  { due: listExpiring, fire: fireTtl, failed: ttlFailed },
  { due: listDueEnvironments, fire: fireSchedules },
];

/** Ticks during a lock or while archived are not made up afterwards, however short it was. */
async function passOver(context: Context): Promise<void> {
  for (const row of await listMissedSchedules(context.db, context.now()))
    await skipRun(context.db, row, nextRunOf(row, context.now()));
}

/** @returns whether another transaction holds the environment */
async function handle(context: Context, { fire }: Timer, id: string, since: Date): Promise<boolean> {
  return inTransaction(context, async (context) => {
    const environment = await lockIdleEnvironment(context.db, id);
    if (environment) await fire(context, environment, since);
    return environment === undefined;
  });
}

async function moveOn(context: Context, { failed }: Timer, id: string): Promise<void> {
  await inTransaction(context, async (context) => {
    const environment = await lockIdleEnvironment(context.db, id);
    if (environment) await failed?.(context, environment);
  });
}

/** Calls a function with each id in their order, for several at the same time. */
async function inLanes(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const waiting = ids.values();
  const lane = async () => {
    for (const id of waiting) await work(id);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/**
 * Of a long list, which other servers read as well, every other environment, and the rest in the next turn: so they
 * seldom meet, and what is due longest waits for one turn at most. Pure.
 * @param half 0 or 1
 */
function shareOf(ids: readonly string[], half: number): readonly string[] {
  return ids.length > sharedAbove ? ids.filter((_, index) => index % 2 === half) : ids;
}

/**
 * One that fails is left to the next pass, and does not delay others. One that is held elsewhere comes again after
 * the next turn: under load, a pass takes long.
 */
async function drain(context: Context, timer: Timer, since: Date): Promise<void> {
  const failed = new Set<string>();
  let held: string[] = [];
  let half = 0;
  for (let turn = 0; ; turn++) {
    half = turn % 2 === 0 ? Math.round(Math.random()) : 1 - half;
    const ids = await timer.due(context.db, context.now(), [...failed, ...held], readAtOnce);
    if (ids.length === 0) return;
    held = [];
    await inLanes(shareOf(ids, half), async (id) => {
      try {
        if (await handle(context, timer, id, since)) held.push(id);
      } catch (error) {
        failed.add(id);
        context.log.error({ err: error, environmentId: id }, 'a timer of an environment failed');
        await moveOn(context, timer, id);
      }
    });
  }
}

/** One pass: everything that is due now. */
export async function fireTimers(context: Context): Promise<void> {
  const began = context.now();
  const since = watchedSince(context, began);
  await passOver(context);
  await Promise.all(timers.map((timer) => drain(context, timer, since)));
  passes.set(context, { began, ended: context.now() });
}

/** When the next timer is due; what is due already was left to the usual turn. */
export async function nextTimerAt(context: Context): Promise<Date | null> {
  const now = context.now();
  const [expiry, schedule] = await Promise.all([
    nextExpiryAt(context.db, now),
    nextScheduleAt(context.db, now),
  ]);
  if (!expiry || !schedule) return expiry ?? schedule;
  return expiry < schedule ? expiry : schedule;
}
