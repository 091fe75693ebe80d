/** A notice above the content of a page, with what can be done about it. */
import type { ReactNode } from 'react';
import type { Tone } from '../design/status.tsx';
import classes from './ui.module.css';

export interface NoticeProps {
  readonly tone: Tone;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function Notice({ tone, children, action }: NoticeProps) {
  return (
    <div className={classes.notice} data-tone={tone} role="status">
      <p>{children}</p>
      {action}
    </div>
  );
}
