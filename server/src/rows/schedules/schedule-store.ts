/** SQL of schedules. */
import {
  type Expression,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
  type Updateable,
} from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { LockedEnvironment } from '../environments/environment-store.ts';
import type { ScheduleTable } from '../schema.ts';

export type ScheduleRow = Selectable<ScheduleTable>;

const scheduledActions = ['deploy', 'destroy', 'driftDetection'] as const;
export type ScheduledAction = (typeof scheduledActions)[number];

/** Schedules of several environments. */
export async function listSchedules(
  db: Connection,
  environmentIds: readonly string[],
): Promise<ScheduleRow[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('schedule')
    .selectAll()
    .where('environment_id', 'in', [...environmentIds])
    .execute();
}

/** Fields of a schedule in the reply of an environment. */
export interface ListedSchedule {
  readonly action: ScheduledAction;
  readonly is_enabled: boolean;
  readonly next_run_at: Date | string | null;
}

/** The schedules of an environment as a column of a statement about environments; null if it has none. */
export function schedulesOf(environmentId: Expression<string>): RawBuilder<ListedSchedule[] | null> {
  return sql`(select jsonb_agg(jsonb_build_object(
      'action', action, 'is_enabled', is_enabled, 'next_run_at', next_run_at))
    from schedule where environment_id = ${environmentId})`;
}

/** Transactions that wrote these schedules, as a column of the same statement; null if it has none. */
export function scheduleVersionsOf(environmentId: Expression<string>): RawBuilder<string | null> {
  return sql`(select string_agg(xmin::text, ' ' order by action)
    from schedule where environment_id = ${environmentId})`;
}

/** Whether an environment has a schedule for an action, enabled or not: a condition as well. */
export function hasSchedule(environmentId: Expression<string>, action: ScheduledAction): RawBuilder<boolean> {
  return sql`exists (select from schedule where environment_id = ${environmentId} and action = ${action})`;
}

/** Whether an environment has an enabled schedule for an action: a condition of a statement about environments. */
export function isScheduled(environmentId: Expression<string>, action: ScheduledAction): RawBuilder<boolean> {
  return sql`exists (select from schedule
    where environment_id = ${environmentId} and action = ${action} and is_enabled)`;
}

export async function getSchedule(
  db: Connection,
  environmentId: string,
  action: ScheduledAction,
): Promise<ScheduleRow | undefined> {
  return db
    .selectFrom('schedule')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('action', '=', action)
    .executeTakeFirst();
}

/** Puts a schedule in the place of the one for the same action; id and beginning stay. */
export async function putSchedule(tx: Connection, row: Insertable<ScheduleTable>): Promise<ScheduleRow> {
  const { id: _, created_at: __, created_by: ___, environment_id: ____, action: _____, ...changes } = row;
  return tx
    .insertInto('schedule')
    .values(row)
    .onConflict((conflict) => conflict.columns(['environment_id', 'action']).doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateSchedule(
  tx: Connection,
  id: string,
  changes: Updateable<ScheduleTable>,
): Promise<void> {
  await tx.updateTable('schedule').set(changes).where('id', '=', id).execute();
}

export async function removeSchedule(
  tx: Connection,
  { id: environmentId }: LockedEnvironment,
  action: ScheduledAction,
): Promise<void> {
  await tx
    .deleteFrom('schedule')
    .where('environment_id', '=', environmentId)
    .where('action', '=', action)
    .execute();
}

/** Schedules of an environment whose time has come. */
export async function listDueSchedules(
  db: Connection,
  environmentId: string,
  now: Date,
): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedule')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .execute();
}

/**
 * Environments with a schedule whose time has come, the most overdue first.
 * @param except ids of environments to leave out
 */
export async function listDueEnvironments(
  db: Connection,
  now: Date,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const due = db
    .selectFrom('schedule')
    .innerJoin('environment', 'environment.id', 'schedule.environment_id')
    .select('environment.id')
    .where('schedule.next_run_at', '<=', now)
    .where('environment.is_locked', '=', false)
    .where('environment.is_archived', '=', false)
    .orderBy('schedule.next_run_at')
    .limit(limit);
  const rows = await (except.length === 0
    ? due
    : due.where('environment.id', 'not in', [...except])
  ).execute();
  return [...new Set(rows.map(({ id }) => id))];
}

/** When the first schedule after a time is due. */
export async function nextScheduleAt(db: Connection, after: Date): Promise<Date | null> {
  const row = await db
    .selectFrom('schedule')
    .select('next_run_at')
    .where('next_run_at', '>', after)
    .orderBy('next_run_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_run_at ?? null;
}

/** Schedules that were due before a time while their environment was locked or archived. */
export async function listMissedSchedules(db: Connection, before: Date): Promise<ScheduleRow[]> {
  return db
    .selectFrom('schedule')
    .innerJoin('environment', 'environment.id', 'schedule.environment_id')
    .selectAll('schedule')
    .where('schedule.next_run_at', '<', before)
    .where((eb) => eb.or([eb('environment.is_locked', '=', true), eb('environment.is_archived', '=', true)]))
    .execute();
}

/** Moves a schedule on, unless another server has done so. */
export async function skipRun(
  db: Connection,
  { id, next_run_at }: Pick<ScheduleRow, 'id' | 'next_run_at'>,
  next: Date | null,
): Promise<void> {
  await db
    .updateTable('schedule')
    .set({ next_run_at: next })
    .where('id', '=', id)
    .where('next_run_at', '=', next_run_at)
    .execute();
}

/** Schedules that deploy or destroy environments of a project, those of the newest environment first. */
export async function listSchedulesOfProject(db: Connection, projectId: string) {
  return db
    .selectFrom('schedule')
    .innerJoin('environment', 'environment.id', 'schedule.environment_id')
    .selectAll('schedule')
    .select(['environment.project_id', 'environment.organization_id', 'environment.is_archived'])
    .where('environment.project_id', '=', projectId)
    .where('schedule.action', '<>', 'driftDetection')
    .orderBy('environment.created_at', 'desc')
    .orderBy('environment.id', 'desc')
    .execute();
}
