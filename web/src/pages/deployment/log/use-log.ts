/** The log as the page shows it: the worker that keeps it, its steps, and the lines that the address names. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { useSearchState } from '../../../ui/search.ts';
import { type LogLayout, layoutOf } from './layout.ts';
import { LogSession, type LogState } from './log-session.ts';
import { type LineSelection, lineParameter, selectionOf } from './selection.ts';

const failed = new Set(['FAIL', 'TIMEOUT']);
const silent = new Set(['NOT_STARTED', 'SKIPPED']);

/** Whether the step ended with an error. */
export const hasFailed = ({ status }: Step): boolean => failed.has(status);

/** The worker that keeps the log of the deployment, while the component is there. */
export function useLogSession(steps: readonly Step[]): LogSession {
  const [session] = useState(() => new LogSession());
  useEffect(() => () => session.close(), [session]);
  useEffect(() => {
    session.setSteps(steps.map((step) => ({ name: step.name, isFailed: hasFailed(step) })));
  }, [session, steps]);
  return session;
}

/** Lines that are shown. */
export interface LogParts {
  readonly folded: ReadonlySet<string>;
  /** Start of the shown part of a very long log, by step. */
  readonly starts: ReadonlyMap<string, number>;
}

/** Steps in their order; those that only the log knows come last, and those that say nothing are left out. */
export function useLayout(
  steps: readonly Step[],
  { sizes }: LogState,
  { folded, starts }: LogParts,
): LogLayout {
  return useMemo(() => {
    const known = new Set(steps.map(({ name }) => name));
    const shown = steps.filter(({ name, status }) => sizes.has(name) || !silent.has(status));
    const names = [...shown.map(({ name }) => name), ...[...sizes.keys()].filter((name) => !known.has(name))];
    return layoutOf(
      names.map((name) => ({
        name,
        lines: sizes.get(name)?.lines ?? 0,
        isFolded: folded.has(name),
        start: starts.get(name),
      })),
    );
  }, [steps, sizes, folded, starts]);
}

export interface ChosenLines {
  /** The step that the address names, with lines or without. */
  readonly step: string | undefined;
  readonly selection: LineSelection | undefined;
  readonly select: (chosen: LineSelection | undefined) => void;
  /** The whole address of the page with these lines. */
  readonly hrefOf: (chosen: LineSelection) => string;
}

const paramsOf = (chosen: LineSelection | undefined) => ({
  step: chosen?.step,
  line: chosen && lineParameter(chosen),
});

function hrefOf(chosen: LineSelection): string {
  const url = new URL(location.href);
  url.searchParams.set('step', chosen.step);
  url.searchParams.set('line', String(lineParameter(chosen)));
  return url.href;
}

/** The lines that the address names. */
export function useChosenLines(): ChosenLines {
  const [{ step, line }] = useSearchState();
  const navigate = useNavigate();
  const selection = useMemo(() => selectionOf(step, line), [step, line]);
  const searchWith = (chosen: LineSelection | undefined) =>
    ((before: object) => ({ ...before, ...paramsOf(chosen) })) as never;
  return {
    step,
    selection,
    select: (chosen) =>
      void navigate({ to: '.', search: searchWith(chosen), replace: true, resetScroll: false }),
    hrefOf,
  };
}

/** The last line that is there, as text; undefined: none is. */
export function lastLineOf({ steps }: LogLayout): string | undefined {
  const last = steps.findLast(({ lines }) => lines > 0);
  return last && `line ${last.lines.toLocaleString('en')} of ${last.name}`;
}
