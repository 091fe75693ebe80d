/** Calendar entries of a lifetime and a schedule. Pure. */
import type { CalendarEntry, CalendarKind } from '#contract/calendar/shapes.ts';
import type {
  DatedEnvironment,
  DatedSchedule,
  EndingEnvironment,
} from '../../rows/calendar/calendar-store.ts';
import { nextRunOf } from '../../runs/schedules/next-run.ts';
import { noticesFrom } from '../../tenancy/lifetimes/lifespan.ts';

export interface Span {
  readonly from: Date;
  /** Not included. */
  readonly to: Date;
}

/** A schedule with more runs a day has one entry for that day. */
const mostOfDay = 3;
const dayMilliseconds = 86_400_000;

function isWithin(at: Date, { from, to }: Span): boolean {
  return at >= from && at < to;
}

function entry(
  row: DatedEnvironment,
  at: Date,
  kind: CalendarKind,
  text: string,
  more: Pick<CalendarEntry, 'cron' | 'timeZone' | 'isRepeated'> & { held?: string | undefined } = {},
): CalendarEntry {
  const { held, ...others } = more;
  return {
    at: at.toISOString(),
    kind,
    text,
    environmentId: row.id,
    environmentName: row.name,
    environmentStatus: row.status,
    projectId: row.project_id,
    projectName: row.project_name,
    organizationId: row.organization_id,
    ...others,
    ...(held === undefined ? {} : { held }),
  };
}

/** Why the end of a lifetime destroys nothing. */
function heldEnd({ is_locked: isLocked, status }: DatedEnvironment): string | undefined {
  if (isLocked) return 'It is locked: it expires half an hour after the unlock, with another notice';
  const isEmpty = status === 'INACTIVE' || status === 'NEVER_DEPLOYED';
  return isEmpty ? `It is ${status}: there is nothing to destroy` : undefined;
}

/** @returns the notices, and the end or the next attempt, in the order of time */
export function entriesOfLifetime(row: EndingEnvironment, span: Span): CalendarEntry[] {
  const { lifespan_end_at: end, next_ttl_at: next, ttl_attempts: attempts } = row;
  if (!end || !next) return [];
  const held = heldEnd(row);
  if (attempts > 0) {
    const text = `is destroyed, tried again: ${row.ttl_problem ?? 'it did not work before'}`;
    return isWithin(next, span) ? [entry(row, next, 'retry', text, { held })] : [];
  }
  const notices = noticesFrom(end, next).map(({ at, number }) =>
    entry(row, at, 'notice', `notice ${number} of 3: it expires at ${end.toISOString()}`, { held }),
  );
  // After an unlock, the destroy comes later than the end.
  const last = entry(row, next > end ? next : end, 'expiry', 'expires, and is destroyed', { held });
  return [...notices, last].filter(({ at }) => isWithin(new Date(at), span));
}

const sentences = {
  deploy: 'is deployed by its schedule',
  destroy: 'is destroyed by its schedule',
  driftDetection: 'is checked for drift',
} as const;

function heldRun(row: DatedSchedule, at: Date): string | undefined {
  if (row.is_locked) return 'It is locked: runs are skipped until it is unlocked';
  if (row.action === 'driftDetection')
    return row.status === 'ACTIVE'
      ? undefined
      : `It is ${row.status}: drift detection runs while it is ACTIVE`;
  const { lifespan_end_at: end } = row;
  if (row.action === 'deploy' && end && end <= at)
    return `Its lifetime ends before, at ${end.toISOString()}: after that, it needs another one`;
  return row.status === 'NEVER_DEPLOYED'
    ? 'It was never deployed: schedules begin after its first successful deployment'
    : undefined;
}

/** The runs of a schedule in the order of time, computed as far as they are read. */
export function* entriesOfSchedule(row: DatedSchedule, span: Span): Generator<CalendarEntry, undefined> {
  const after = (at: Date) => nextRunOf(row, at);
  const before = (at: Date) => new Date(at.getTime() - 1);
  const make = (at: Date, isRepeated: boolean) =>
    entry(row, at, row.action, sentences[row.action], {
      cron: row.cron,
      timeZone: row.time_zone,
      ...(isRepeated ? { isRepeated } : {}),
      held: heldRun(row, at),
    });
  let at = row.next_run_at >= span.from ? row.next_run_at : after(before(span.from));
  while (at && at < span.to) {
    const dayEnd = new Date((Math.floor(at.getTime() / dayMilliseconds) + 1) * dayMilliseconds);
    const runs: Date[] = [];
    let next: Date | null = at;
    for (; next && next < dayEnd && runs.length <= mostOfDay; next = after(next)) runs.push(next);
    if (runs.length > mostOfDay) {
      yield make(at, true);
      at = after(before(dayEnd));
      continue;
    }
    for (const run of runs) if (run < span.to) yield make(run, false);
    at = next;
  }
  return undefined;
}
