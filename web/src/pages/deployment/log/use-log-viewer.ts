/** State and actions of the log viewer, apart from its appearance. */
import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { saveFile } from './save-file.ts';
import type { LogPosition } from './store/search.ts';
import { type ChosenLines, hasFailed, useChosenLines, useLayout, useLogSession } from './use-log.ts';
import { useLogKeys } from './use-log-keys.ts';
import { useSearch } from './use-search.ts';
import { type LogView, targetOf, useView } from './use-view.ts';

export interface LogViewerProps {
  readonly deploymentId: string;
  readonly steps: readonly Step[];
  /** The deployment has ended: its log grows no more. */
  readonly isOver: boolean;
}

/** Links of the page lead to other lines while the log is there; lines that are chosen here are in view. */
function useLinks(
  { step, selection, select }: ChosenLines,
  onStep: (step: string) => void,
  view: LogView,
): ChosenLines['select'] {
  const key = `${step} ${selection?.from} ${selection?.to}`;
  const seen = useRef<string>(undefined);
  const follow = useEffectEvent(() => {
    const target = targetOf({ step, selection });
    if (target) view.goTo(target);
    if (step !== undefined && !selection) onStep(step);
  });
  useEffect(() => {
    if (seen.current === key) return;
    seen.current = key;
    follow();
  }, [key]);
  return (chosen) => {
    seen.current = `${chosen?.step} ${chosen?.from} ${chosen?.to}`;
    select(chosen);
  };
}

export function useLogViewer({ deploymentId, steps, isOver }: LogViewerProps) {
  const session = useLogSession(steps);
  const state = useSyncExternalStore(session.subscribe, session.state);
  const address = useChosenLines();
  const view = useView(isOver, targetOf(address));
  const onError = async () => {
    const place = await session.ask('error', {});
    if (!place) return;
    select({ step: place.step, from: place.line + 1, to: place.line + 1 });
    view.goTo({ to: 'line', ...place });
  };
  const onStep = (name: string) => {
    if (steps.some((step) => step.name === name && hasFailed(step))) void onError();
  };
  const select = useLinks(address, onStep, view);
  const chosen = { ...address, select };
  const layout = useLayout(steps, state, view);
  const top = useRef<LogPosition>(undefined);
  const log = useSearch(
    session,
    state,
    () => top.current,
    (found) => view.goTo({ to: 'line', ...found }),
  );
  const onWrap = () => {
    view.setWrapped(!view.isWrapped);
    if (top.current && !view.isFollowing) view.goTo({ to: 'top', ...top.current });
  };
  const onDownload = async (step?: string) => {
    const file = await session.ask('file', { step });
    const ending = step === undefined ? '' : `-${step.replaceAll(/[^\w.-]/g, '-')}`;
    saveFile(file, `${deploymentId}${ending}.log`);
  };
  const onTop = (place: LogPosition) => {
    top.current = place;
  };
  useLogKeys({ view, log, onWrap, onClear: () => select(undefined) });
  return { session, state, chosen, view, layout, log, onWrap, onError, onDownload, onTop };
}
