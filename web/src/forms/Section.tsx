/** Parts of forms: a title with a hint, and the fields that belong to it. */
import type { ReactNode } from 'react';
import classes from './forms.module.css';

export interface SectionProps {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, hint, children }: SectionProps) {
  return (
    <div role="group" className={classes.section} aria-label={title}>
      <div>
        <h2>{title}</h2>
        {hint !== undefined && <p className={classes.hint}>{hint}</p>}
      </div>
      <div className={classes.fields}>{children}</div>
    </div>
  );
}

/** A field, or a group of them, over the whole width of its section. */
export function Wide({ children }: { readonly children: ReactNode }) {
  return <div className={classes.wide}>{children}</div>;
}

/** The buttons of a form, which stay in sight. */
export function FormFoot({ children }: { readonly children: ReactNode }) {
  return <footer className={classes.foot}>{children}</footer>;
}
