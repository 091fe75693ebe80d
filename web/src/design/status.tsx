/** Statuses as word, shape and colour, together: none of them depends on colour alone. */
import type { ReactNode } from 'react';
import type { PolicyDecision } from '#contract/deployments/policy-verdict.ts';
import type {
  DeploymentStatus,
  DriftStatus,
  EnvironmentStatus,
  StepStatus,
} from '#contract/schema/enumerations.ts';
import classes from './status.module.css';

export type Tone = 'ok' | 'run' | 'wait' | 'fail' | 'drift' | 'idle';

export interface StatusLook {
  readonly word: string;
  readonly tone: Tone;
  readonly shape: keyof typeof shapes;
}

/** Drawn on 16 × 16, in the colour of the text. */
const shapes = {
  check: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.7 8.3l2.2 2.2 4.4-4.7" stroke="var(--e-surface)" strokeWidth="1.8" fill="none" />
    </>
  ),
  ring: (
    <>
      <circle cx="8" cy="8" r="6" stroke="currentColor" strokeWidth="2" strokeOpacity="0.28" fill="none" />
      <path
        d="M8 2a6 6 0 0 1 6 6"
        stroke="currentColor"
        strokeWidth="2.2"
        fill="none"
        className={classes.turn}
      />
    </>
  ),
  diamond: (
    <>
      <path d="M8 1l7 7-7 7-7-7z" fill="currentColor" />
      <path d="M8 4.6v4.2M8 10.4v1.4" stroke="var(--e-surface)" strokeWidth="1.8" />
    </>
  ),
  cross: (
    <>
      <path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor" />
      <path d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" stroke="var(--e-surface)" strokeWidth="1.8" />
    </>
  ),
  wave: (
    <path
      d="M1 6c2.3-3 4.6-3 7 0s4.7 3 7 0M1 11.5c2.3-3 4.6-3 7 0s4.7 3 7 0"
      stroke="currentColor"
      strokeWidth="2"
      fill="none"
    />
  ),
  hollow: <circle cx="8" cy="8" r="6" stroke="currentColor" strokeWidth="1.8" fill="none" />,
  dotted: (
    <circle cx="8" cy="8" r="6" stroke="currentColor" strokeWidth="2" strokeDasharray="2.4 2.3" fill="none" />
  ),
  bar: (
    <>
      <circle cx="8" cy="8" r="6.2" stroke="currentColor" strokeWidth="1.8" fill="none" />
      <path d="M4.8 8h6.4" stroke="currentColor" strokeWidth="2" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6.2" stroke="currentColor" strokeWidth="1.8" fill="none" />
      <path d="M8 4.4V8l2.6 1.8" stroke="currentColor" strokeWidth="1.8" fill="none" />
    </>
  ),
} as const satisfies Readonly<Record<string, ReactNode>>;

export const environmentLooks: Readonly<Record<EnvironmentStatus, StatusLook>> = {
  CREATED: { word: 'Created', tone: 'idle', shape: 'hollow' },
  INACTIVE: { word: 'Inactive', tone: 'idle', shape: 'hollow' },
  ACTIVE: { word: 'Active', tone: 'ok', shape: 'check' },
  FAILED: { word: 'Failed', tone: 'fail', shape: 'cross' },
  TIMEOUT: { word: 'Timed out', tone: 'fail', shape: 'clock' },
  WAITING_FOR_USER: { word: 'Waiting for approval', tone: 'wait', shape: 'diamond' },
  DEPLOY_IN_PROGRESS: { word: 'Deploying', tone: 'run', shape: 'ring' },
  DESTROY_IN_PROGRESS: { word: 'Destroying', tone: 'run', shape: 'ring' },
  TASK_IN_PROGRESS: { word: 'Running a task', tone: 'run', shape: 'ring' },
  ABORTING: { word: 'Aborting', tone: 'run', shape: 'ring' },
  ABORTED: { word: 'Aborted', tone: 'idle', shape: 'bar' },
  NEVER_DEPLOYED: { word: 'Never deployed', tone: 'idle', shape: 'hollow' },
  DRIFTED: { word: 'Drifted', tone: 'drift', shape: 'wave' },
  DRY_RUN_IN_PROGRESS: { word: 'Planning', tone: 'run', shape: 'ring' },
};

export const deploymentLooks: Readonly<Record<DeploymentStatus, StatusLook>> = {
  IN_PROGRESS: { word: 'Running', tone: 'run', shape: 'ring' },
  WAITING_FOR_USER: { word: 'Waiting for approval', tone: 'wait', shape: 'diamond' },
  TIMEOUT: { word: 'Timed out', tone: 'fail', shape: 'clock' },
  FAILURE: { word: 'Failed', tone: 'fail', shape: 'cross' },
  SUCCESS: { word: 'Succeeded', tone: 'ok', shape: 'check' },
  CANCELLED: { word: 'Cancelled', tone: 'idle', shape: 'bar' },
  INTERNAL_FAILURE: { word: 'Internal failure', tone: 'fail', shape: 'cross' },
  ABORTING: { word: 'Aborting', tone: 'run', shape: 'ring' },
  ABORTED: { word: 'Aborted', tone: 'idle', shape: 'bar' },
  QUEUED: { word: 'Queued', tone: 'idle', shape: 'dotted' },
  SKIPPED: { word: 'Skipped', tone: 'idle', shape: 'bar' },
  NEVER_DEPLOYED: { word: 'Never deployed', tone: 'idle', shape: 'hollow' },
};

export const driftLooks: Readonly<Record<DriftStatus, StatusLook>> = {
  ERROR: { word: 'Drift check failed', tone: 'fail', shape: 'cross' },
  DRIFTED: { word: 'Drifted', tone: 'drift', shape: 'wave' },
  OK: { word: 'No drift', tone: 'ok', shape: 'check' },
  NEVER_RUN: { word: 'Not checked', tone: 'idle', shape: 'hollow' },
  DISABLED: { word: 'Not checked', tone: 'idle', shape: 'hollow' },
};

export const stepLooks: Readonly<Record<StepStatus, StatusLook>> = {
  NOT_STARTED: { word: 'Not started', tone: 'idle', shape: 'dotted' },
  IN_PROGRESS: { word: 'Running', tone: 'run', shape: 'ring' },
  WAITING_FOR_USER: { word: 'Waiting for approval', tone: 'wait', shape: 'diamond' },
  TIMEOUT: { word: 'Timed out', tone: 'fail', shape: 'clock' },
  FAIL: { word: 'Failed', tone: 'fail', shape: 'cross' },
  SUCCESS: { word: 'Done', tone: 'ok', shape: 'check' },
  CANCELLED: { word: 'Cancelled', tone: 'idle', shape: 'bar' },
  SKIPPED: { word: 'Skipped', tone: 'idle', shape: 'bar' },
  WARNING: { word: 'Done with a warning', tone: 'wait', shape: 'diamond' },
};

/** Decision of an approval policy. */
export const verdictLooks: Readonly<Record<PolicyDecision, StatusLook>> = {
  allow: { word: 'Allowed', tone: 'ok', shape: 'check' },
  deny: { word: 'Denied', tone: 'fail', shape: 'cross' },
  pending: { word: 'Requires more approvals', tone: 'wait', shape: 'diamond' },
  none: { word: 'Leaves the decision to people', tone: 'wait', shape: 'dotted' },
  error: { word: 'Could not be evaluated', tone: 'fail', shape: 'cross' },
};

/** The shape of a status by itself, where its word is next to it. */
export function StatusShape({ look, size = 14 }: { readonly look: StatusLook; readonly size?: number }) {
  return (
    <svg
      className={classes.shape}
      data-tone={look.tone}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      {shapes[look.shape]}
    </svg>
  );
}

/** A status as shape and word. `filled`: on a wash of its colour, for the head of a page. */
export function Status({ look, filled = false }: { readonly look: StatusLook; readonly filled?: boolean }) {
  return (
    <span className={classes.status} data-tone={look.tone} data-filled={filled || undefined}>
      <StatusShape look={look} />
      {look.word}
    </span>
  );
}
