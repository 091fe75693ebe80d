/** Change of a resource as word, shape and colour, together. */
import type { ReactNode } from 'react';
import type { ChangeKind } from '#contract/deployments/change-kinds.ts';
import { kindWords } from '#contract/deployments/plan-counts.ts';
import classes from './plan.module.css';

/** Drawn on 16 × 16, in the colour of the text. */
const shapes: Readonly<Record<ChangeKind, ReactNode>> = {
  destroy: (
    <>
      <rect x="1" y="1" width="14" height="14" rx="2" fill="currentColor" />
      <path d="M4 8h8" stroke="var(--e-surface)" strokeWidth="2.2" />
    </>
  ),
  replace: (
    <>
      <rect x="1" y="1" width="14" height="14" rx="2" fill="currentColor" />
      <path
        d="M4.2 6.2h6.6M8.6 3.8l2.6 2.4-2.6 2.4M11.8 10.6H5.2"
        stroke="var(--e-surface)"
        strokeWidth="1.6"
        fill="none"
      />
    </>
  ),
  update: (
    <>
      <circle cx="8" cy="8" r="6.2" stroke="currentColor" strokeWidth="1.6" fill="none" />
      <path
        d="M4.6 9c1-2.2 2.4-2.2 3.4-1s2.4 1.2 3.4-1"
        stroke="currentColor"
        strokeWidth="1.6"
        fill="none"
      />
    </>
  ),
  create: (
    <>
      <circle cx="8" cy="8" r="6.2" stroke="currentColor" strokeWidth="1.6" fill="none" />
      <path d="M8 4.8v6.4M4.8 8h6.4" stroke="currentColor" strokeWidth="1.8" />
    </>
  ),
  import: (
    <path
      d="M8 1.5v7.5M4.8 6.2L8 9.4l3.2-3.2M2 10.5V14h12v-3.5"
      stroke="currentColor"
      strokeWidth="1.7"
      fill="none"
    />
  ),
  move: <path d="M1.5 8h12M9.5 4l4 4-4 4" stroke="currentColor" strokeWidth="1.7" fill="none" />,
  forget: (
    <>
      <rect
        x="1.8"
        y="1.8"
        width="12.4"
        height="12.4"
        rx="2"
        stroke="currentColor"
        strokeWidth="1.6"
        fill="none"
      />
      <path d="M5 5l6 6M11 5l-6 6" stroke="currentColor" strokeWidth="1.7" />
    </>
  ),
  invoke: <path d="M4 2.5l9 5.5-9 5.5z" fill="currentColor" />,
  unknown: (
    <>
      <path
        d="M5.2 5.6C5.2 3.9 6.4 3 8 3s2.8.9 2.8 2.4c0 2-2.8 2-2.8 4"
        stroke="currentColor"
        strokeWidth="1.7"
        fill="none"
      />
      <circle cx="8" cy="12.6" r="1.1" fill="currentColor" />
    </>
  ),
  defer: (
    <>
      <circle cx="3" cy="8" r="1.6" fill="currentColor" />
      <circle cx="8" cy="8" r="1.6" fill="currentColor" />
      <circle cx="13" cy="8" r="1.6" fill="currentColor" />
    </>
  ),
  note: <circle cx="8" cy="8" r="3" fill="currentColor" />,
};

export function KindMark({
  kind,
  hasWord = true,
}: {
  readonly kind: ChangeKind;
  readonly hasWord?: boolean;
}) {
  return (
    <span className={classes.mark} data-kind={kind}>
      <svg width={15} height={15} viewBox="0 0 16 16" aria-hidden="true">
        {shapes[kind]}
      </svg>
      {hasWord && kindWords[kind].word}
    </span>
  );
}
