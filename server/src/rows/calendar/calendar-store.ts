/** SQL of the calendar: environments and schedules with a next date. */

import { sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { within } from '../environments/listed-environment-store.ts';
import type { Reach } from '../places.ts';
import { projectNameOf } from '../projects/project-store.ts';
import type { ScheduleRow } from '../schedules/schedule-store.ts';

export interface CalendarScope {
  readonly reach: Reach;
  readonly projectId: string | undefined;
  /** Only what has its next date before this. */
  readonly before: Date;
  readonly limit: number;
}

const shown = [
  'environment.id',
  'environment.name',
  'environment.status',
  'environment.organization_id',
  'environment.project_id',
  'environment.is_locked',
  'environment.lifespan_end_at',
] as const;

/** The environment of a date. */
export type DatedEnvironment = Pick<
  EnvironmentRow,
  'id' | 'name' | 'status' | 'organization_id' | 'project_id' | 'is_locked' | 'lifespan_end_at'
> & { readonly project_name: string };

const projectName = projectNameOf(sql.ref('environment.project_id')).as('project_name');

export type EndingEnvironment = DatedEnvironment &
  Pick<EnvironmentRow, 'next_ttl_at' | 'ttl_attempts' | 'ttl_problem'>;

/** Environments whose end, or a notice before it, comes before a time; what comes first is first. */
export async function listEnding(
  db: Connection,
  { reach, projectId, before, limit }: CalendarScope,
): Promise<EndingEnvironment[]> {
  const rows = db
    .selectFrom('environment')
    .select([...shown, 'next_ttl_at', 'ttl_attempts', 'ttl_problem', projectName])
    .where(within(reach))
    .where('next_ttl_at', '<', before)
    .where('is_archived', '=', false)
    .orderBy('next_ttl_at')
    .limit(limit);
  return (projectId === undefined ? rows : rows.where('project_id', '=', projectId)).execute();
}

export type DatedSchedule = DatedEnvironment &
  Pick<ScheduleRow, 'action' | 'cron' | 'time_zone' | 'environment_id'> & { readonly next_run_at: Date };

/** Schedules that come before a time; what comes first is first. */
export async function listComing(
  db: Connection,
  { reach, projectId, before, limit }: CalendarScope,
): Promise<DatedSchedule[]> {
  const rows = db
    .selectFrom('schedule')
    .innerJoin('environment', 'environment.id', 'schedule.environment_id')
    .select([
      ...shown,
      'schedule.action',
      'schedule.cron',
      'schedule.time_zone',
      'schedule.environment_id',
      'schedule.next_run_at',
      projectName,
    ])
    .where(within(reach))
    .where('schedule.next_run_at', '<', before)
    .where('environment.is_archived', '=', false)
    .orderBy('schedule.next_run_at')
    .limit(limit)
    .$narrowType<{ next_run_at: Date }>();
  return (projectId === undefined ? rows : rows.where('environment.project_id', '=', projectId)).execute();
}
