/** A part of a page with a heading of its own. */
import { type ReactNode, useId } from 'react';
import classes from './records.module.css';

export interface PartProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Part({ title, lead, actions, children }: PartProps) {
  const id = useId();
  return (
    <section className={classes.part} aria-labelledby={id}>
      <div className={classes.partHead}>
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {lead !== undefined && <p className={classes.partLead}>{lead}</p>}
      {children}
    </section>
  );
}
