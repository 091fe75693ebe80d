/** The calendar day by day, by the clock of the reader. Pure. */
import type { CalendarEntry, CalendarKind } from '#contract/calendar/shapes.ts';
import type { StatusLook } from '../../design/status.tsx';

export const kindLooks: Readonly<Record<CalendarKind, StatusLook>> = {
  deploy: { word: 'Deploy', tone: 'ok', shape: 'check' },
  destroy: { word: 'Destroy', tone: 'fail', shape: 'cross' },
  driftDetection: { word: 'Drift check', tone: 'drift', shape: 'wave' },
  notice: { word: 'Notice', tone: 'wait', shape: 'diamond' },
  expiry: { word: 'End of lifetime', tone: 'fail', shape: 'clock' },
  retry: { word: 'Destroy again', tone: 'fail', shape: 'clock' },
};
export const heldLook: StatusLook = { word: 'Held', tone: 'idle', shape: 'bar' };

/** Filters of the page. */
const choices = {
  runs: ['deploy', 'destroy'],
  drift: ['driftDetection'],
  ends: ['notice', 'expiry', 'retry'],
} as const satisfies Readonly<Record<string, readonly CalendarKind[]>>;

/** @param choice of `choices`; anything else: all */
export function chosen(
  entries: readonly CalendarEntry[],
  choice: string | undefined,
): readonly CalendarEntry[] {
  const kinds: readonly CalendarKind[] | undefined = Object.entries(choices).find(
    ([name]) => name === choice,
  )?.[1];
  return kinds ? entries.filter(({ kind }) => kinds.includes(kind)) : entries;
}

export interface Day {
  /** `2026-11-24`. */
  readonly date: string;
  readonly entries: readonly CalendarEntry[];
}

/** The date of a moment in the reader's zone. */
export function dateOf(moment: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

/** @param entries in the order of time */
export function daysOf(entries: readonly CalendarEntry[]): Day[] {
  const byDate = Map.groupBy(entries, ({ at }) => dateOf(new Date(at)));
  return [...byDate].map(([date, own]) => ({ date, entries: own }));
}

const full = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

/** Name of a day: today, tomorrow, or its date. */
export function dayName(date: string, now: Date): string {
  const named = full.format(new Date(`${date}T12:00`));
  if (date === dateOf(now)) return `Today, ${named}`;
  const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return date === dateOf(tomorrow) ? `Tomorrow, ${named}` : named;
}

/** The moment that the address names: a day of the reader, or a moment; undefined: now. */
export function momentOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}
