/** Placeholder for an empty list: its future content, and the command and the call that would fill it. */
import type { ReactNode } from 'react';
import { CommandLine } from './CommandLine.tsx';
import type { ShownCall } from './calls.ts';
import classes from './ui.module.css';

export interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** With the person's own ids, so that it works when it is pasted. */
  readonly call?: ShownCall;
  /** The button that does the same here. */
  readonly action?: ReactNode;
}

export function EmptyState({ title, children, call, action }: EmptyStateProps) {
  return (
    <section className={classes.empty}>
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action}
      {call !== undefined && (
        <div className={classes.emptyCalls}>
          {call.cli !== undefined && <CommandLine label="Command line" text={call.cli} />}
          <CommandLine label="API" text={call.curl} />
        </div>
      )}
    </section>
  );
}
