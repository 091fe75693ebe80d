/** SQL of schedules. */
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Connection } from '../context.ts';
import type { ScheduleTable } from '../database/schema.ts';
import type { LockedEnvironment } from '../environments/environment-store.ts';

export type ScheduleRow = Selectable<ScheduleTable>;

export const scheduledActions = ['deploy', 'destroy', 'driftDetection'] as const;
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
