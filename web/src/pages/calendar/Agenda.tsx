/** Scheduled events, day by day. */

import { Link } from '@tanstack/react-router';
import type { CalendarEntry } from '#contract/calendar/shapes.ts';
import { StatusShape } from '../../design/status.tsx';
import { cronWords } from '../../forms/cron/cron.ts';
import rows from '../../ui/rows.module.css';
import { useNextHour } from '../../ui/Time.tsx';
import { type Day, dayName, heldLook, kindLooks } from './agenda.ts';
import classes from './calendar.module.css';

/** More drift checks than these on one day are folded. */
const mostDriftChecks = 4;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Texts of the service have moments as every program reads them. */
function inReadersZone(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => moment.format(Date.parse(at)));
}

function Schedule({ cron, timeZone, isRepeated }: CalendarEntry) {
  if (cron === undefined) return null;
  return (
    <p className={rows.quiet}>
      {isRepeated ? 'Several times that day: ' : ''}
      {cronWords(cron, timeZone) ?? (
        <>
          <code>{cron}</code> {timeZone}
        </>
      )}
    </p>
  );
}

function Row({ entry }: { readonly entry: CalendarEntry }) {
  const { at, kind, text, held, environmentId, environmentName, projectName, cron } = entry;
  const look = kindLooks[kind];
  return (
    <li className={classes.row} data-held={held !== undefined}>
      <time dateTime={at} title={exact.format(Date.parse(at))} className={`tabular ${classes.time}`}>
        {clock.format(Date.parse(at))}
      </time>
      <span className={classes.kind}>
        <StatusShape look={held === undefined ? look : heldLook} />
        {look.word}
      </span>
      <div className={`${rows.what} ${classes.what}`}>
        <Link to="/environments/$environmentId" params={{ environmentId }} className={rows.name!}>
          <bdi>{environmentName}</bdi>
        </Link>
        <span className={rows.place}>
          <bdi>{projectName}</bdi>
        </span>
      </div>
      <div className={`${rows.facts} ${classes.facts}`}>
        {cron === undefined ? <p>{inReadersZone(text)}</p> : <Schedule {...entry} />}
        {held !== undefined && <p className={classes.held}>Held. {held}.</p>}
      </div>
    </li>
  );
}

function Rows({ entries }: { readonly entries: readonly CalendarEntry[] }) {
  return (
    <ul className="plain">
      {entries.map((entry) => (
        <Row key={`${entry.environmentId} ${entry.kind} ${entry.at}`} entry={entry} />
      ))}
    </ul>
  );
}

function DayPart({ day, now }: { readonly day: Day; readonly now: Date }) {
  const checks = day.entries.filter(({ kind }) => kind === 'driftDetection');
  const isFolded = checks.length > mostDriftChecks && checks.length < day.entries.length;
  const shown = isFolded ? day.entries.filter(({ kind }) => kind !== 'driftDetection') : day.entries;
  return (
    <section className={classes.day} aria-labelledby={`day-${day.date}`}>
      <h2 id={`day-${day.date}`}>{dayName(day.date, now)}</h2>
      <div>
        <Rows entries={shown} />
        {isFolded && (
          <details className={classes.folded}>
            <summary>{checks.length} drift checks</summary>
            <Rows entries={checks} />
          </details>
        )}
      </div>
    </section>
  );
}

export function Agenda({ days }: { readonly days: readonly Day[] }) {
  const now = new Date((useNextHour() - 1) * 3_600_000);
  return days.map((day) => <DayPart key={day.date} day={day} now={now} />);
}
