/** The calendar of what is going to happen, in the order of time, as far as it fits. */
import { setImmediate as turn } from 'node:timers/promises';
import { longestCalendarDays, type operations } from '#contract/calendar/operations.ts';
import type { Calendar, CalendarEntry } from '#contract/calendar/shapes.ts';
import type { QueryOf } from '#contract/schema/operation.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { type DatedSchedule, listComing, listEnding } from '../../rows/calendar/calendar-store.ts';
import { isNowhere, visibleReach } from '../../runs/environments/visible-reach.ts';
import { entriesOfLifetime, entriesOfSchedule, type Span } from './entries.ts';

const usualDays = 7;
const usualLimit = 500;
/** Of each kind; more than any page has entries. */
const mostRows = 5000;
/** Schedules that are computed before others get their turn. */
const atOnce = 50;
const dayMilliseconds = 86_400_000;

type CalendarQuery = QueryOf<typeof operations.getCalendar>;

/** @throws Refusal 400 for an empty or too long span */
function spanOf({ from: fromText, to: toText }: CalendarQuery, now: Date): Span {
  const from = fromText === undefined ? now : new Date(fromText);
  const to = toText === undefined ? new Date(from.getTime() + usualDays * dayMilliseconds) : new Date(toText);
  if (to <= from) throw badField('query.to', 'must be later than from');
  if (to.getTime() - from.getTime() > longestCalendarDays * dayMilliseconds)
    throw badField('query.to', `must be at most ${longestCalendarDays} days after from`);
  return { from, to };
}

interface EntrySource {
  readonly first: CalendarEntry;
  readonly others: Generator<CalendarEntry, undefined>;
}

/** Schedules by their first entry; expressions are computed for a few at a time. */
async function sourcesOf(rows: readonly DatedSchedule[], span: Span): Promise<EntrySource[]> {
  const sources: EntrySource[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % atOnce === atOnce - 1) await turn();
    const others = entriesOfSchedule(row, span);
    const first = others.next().value;
    if (first) sources.push({ first, others });
  }
  return sources;
}

const inOrder = (one: CalendarEntry, other: CalendarEntry) =>
  one.at < other.at || (one.at === other.at && one.environmentId <= other.environmentId) ? -1 : 1;

/** The first entries of all schedules together: as many as fit, what else comes at the moment of the last, and one more. */
async function firstOf(sources: readonly EntrySource[], limit: number): Promise<CalendarEntry[]> {
  const waiting = sources.toSorted((one, other) => inOrder(one.first, other.first));
  const entries: CalendarEntry[] = [];
  const isEnough = () => entries.length > limit && entries.at(-1)?.at !== entries[limit - 1]?.at;
  while (waiting.length > 0 && !isEnough()) {
    if (entries.length % atOnce === atOnce - 1) await turn();
    const { first, others } = waiting.shift() as EntrySource;
    entries.push(first);
    const next = others.next().value;
    if (!next) continue;
    const place = waiting.findIndex((each) => inOrder(next, each.first) < 0);
    waiting.splice(place < 0 ? waiting.length : place, 0, { first: next, others });
  }
  return entries;
}

/** @throws Refusal 400 that names the field */
export async function readCalendar(context: ActorContext, query: CalendarQuery): Promise<Calendar> {
  const now = context.now();
  const span = spanOf(query, now);
  const { limit = usualLimit, projectId } = query;
  const reach = await visibleReach(context, query);
  const shownSpan = { from: span.from.toISOString(), to: span.to.toISOString() };
  if (isNowhere(reach)) return { ...shownSpan, entries: [], isComplete: true };
  const place = { reach, projectId, before: span.to, limit: mostRows };
  const [ending, coming] = await Promise.all([listEnding(context.db, place), listComing(context.db, place)]);
  // Rows with an early date say nothing about a later span.
  if (span.from > now && Math.max(ending.length, coming.length) >= mostRows)
    throw badField('query.projectId', `is required: more than ${mostRows} timers come before that time`);
  const all = [
    ...ending.flatMap((row) => entriesOfLifetime(row, span)),
    ...(await firstOf(await sourcesOf(coming, span), limit)),
  ].toSorted(inOrder);
  // A moment is not divided, so that the next page can begin with another one.
  const later = all.findIndex(({ at }, index) => index >= limit && at !== all[limit - 1]?.at);
  const next = all[later];
  return {
    ...shownSpan,
    entries: next ? all.slice(0, later) : all,
    ...(next ? { nextFrom: next.at } : {}),
    isComplete: next === undefined,
  };
}
