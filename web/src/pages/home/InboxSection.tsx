/** A part of the inbox: what it is, how many there are, and a row for each with its action. */

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type StatusLook, StatusShape } from '../../design/status.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import rows from '../../ui/rows.module.css';
import classes from './Inbox.module.css';

export interface InboxRowProps {
  readonly look: StatusLook;
  readonly name: string;
  readonly to: string;
  /** Place, such as its project. */
  readonly place: string;
  readonly children: ReactNode;
  readonly action: ReactNode;
}

export function InboxRow({ look, name, to, place, children, action }: InboxRowProps) {
  return (
    <li className={classes.row}>
      <StatusShape look={look} size={18} />
      <div className={rows.what}>
        <Link to={to} className={rows.name!}>
          <bdi>{name}</bdi>
        </Link>
        <span className={rows.place}>
          <bdi>{place}</bdi>
        </span>
      </div>
      <div className={`${rows.facts} ${classes.facts}`}>{children}</div>
      <div className={classes.action}>{action}</div>
    </li>
  );
}

export interface InboxSectionProps {
  readonly id: string;
  readonly title: string;
  readonly total: number;
  /** Beside the title. */
  readonly aside?: ReactNode;
  /** Link to those that are not shown here. */
  readonly more?: ReactNode;
  readonly error?: Error | null;
  readonly refetch?: () => unknown;
  readonly children: ReactNode;
}

export function InboxSection(props: InboxSectionProps) {
  const { id, title, total, aside, more, error, refetch, children } = props;
  if (error) {
    return (
      <section className={classes.section} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <ErrorState error={error} retry={() => void refetch?.()} />
      </section>
    );
  }
  if (total === 0) return null;
  return (
    <section className={classes.section} aria-labelledby={id}>
      <header className={classes.sectionHead}>
        <h2 id={id}>{title}</h2>
        <span className={classes.count}>{total}</span>
        <span className={classes.aside}>{aside}</span>
      </header>
      <ul className={classes.rows}>{children}</ul>
      {more}
    </section>
  );
}
