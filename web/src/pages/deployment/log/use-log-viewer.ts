/** State and actions of the log viewer, apart from its appearance. */
import { useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { usePageKeys } from '../../../ui/page-keys.ts';
import type { LogPosition } from './store/search.ts';
import { type ChosenLines, hasFailed, useChosenLines, useLayout, useLogSession } from './use-log.ts';
import { type LogSearch, useSearch } from './use-search.ts';
import { type LogView, targetOf, useView } from './use-view.ts';

interface LogKeys {
  readonly view: LogView;
  readonly log: LogSearch;
  readonly onWrap: () => void;
  readonly onClear: () => void;
}

/** After `g` another key may name a page. */
const sequenceMilliseconds = 1200;

/** The search has the key of all lists, `/`. */
function useLogKeys({ view, log, onWrap, onClear }: LogKeys): void {
  const goneAt = useRef(Number.NEGATIVE_INFINITY);
  // When the keys were pressed: a busy page handles them later.
  const onTop = ({ timeStamp }: KeyboardEvent) => {
    goneAt.current = timeStamp;
    view.goTo({ to: 'start' });
  };
  const onTimes = ({ timeStamp }: KeyboardEvent) => {
    if (timeStamp - goneAt.current > sequenceMilliseconds) view.setTimes(!view.hasTimes);
  };
  usePageKeys([
    ['n', () => log.go(false)],
    ['shift+n', () => log.go(true)],
    ['g', onTop],
    ['shift+g', () => view.setFollowing(true)],
    ['f', () => view.setFollowing(!view.isFollowing)],
    ['w', onWrap],
    ['t', onTimes],
    ['Escape', onClear],
  ]);
}

/** Lets the browser save bytes as a file. @param name what it is called */
function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

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
