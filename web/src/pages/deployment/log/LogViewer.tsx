/** The log of a deployment: of all its steps, live, searched and linked to. */
import { useRef, useSyncExternalStore } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { Feed } from './Feed.tsx';
import { LogLines } from './LogLines.tsx';
import type { LogSession } from './log-session.ts';
import { saveFile } from './save-file.ts';
import { SelectionBar } from './SelectionBar.tsx';
import type { Place } from './store/search.ts';
import { Toolbar } from './Toolbar.tsx';
import { hasFailed, lastLineOf, useChosenLines, useLayout, useLogSession } from './use-log.ts';
import { useLogKeys } from './use-log-keys.ts';
import { useSearch } from './use-search.ts';
import { useView } from './use-view.ts';
import classes from './log.module.css';

export interface LogViewerProps {
  readonly deploymentId: string;
  readonly steps: readonly Step[];
  /** The deployment has ended: its log grows no more. */
  readonly isOver: boolean;
}

async function download(session: LogSession, deploymentId: string, step?: string): Promise<void> {
  const file = await session.ask('file', { step });
  const ending = step === undefined ? '' : `-${step.replaceAll(/[^\w.-]/g, '-')}`;
  saveFile(file, `${deploymentId}${ending}.log`);
}

function Viewer({ deploymentId, steps, isOver }: LogViewerProps) {
  const session = useLogSession(steps);
  const state = useSyncExternalStore(session.subscribe, session.state);
  const chosen = useChosenLines();
  const { selection, select } = chosen;
  const view = useView(isOver, selection);
  const layout = useLayout(steps, state, view.folded);
  const top = useRef<Place>(undefined);
  const field = useRef<HTMLInputElement>(null);
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
  const onError = async () => {
    const place = await session.ask('error', {});
    if (!place) return;
    select({ step: place.step, from: place.line + 1, to: place.line + 1 });
    view.goTo({ to: 'line', ...place });
  };
  const onSearch = () => field.current?.focus();
  useLogKeys({ view, log, onSearch, onWrap, onClear: () => select(undefined) });
  return (
    <section className={classes.viewer} aria-label="Log">
      <Toolbar
        log={log}
        field={field}
        view={view}
        isOver={isOver}
        steps={layout.steps}
        hasFailed={steps.some(hasFailed)}
        onWrap={onWrap}
        onError={() => void onError()}
        onDownload={() => void download(session, deploymentId)}
      />
      <Feed key={state.gaps} session={session} deploymentId={deploymentId} upTo={lastLineOf(layout)} />
      {selection && <SelectionBar selection={selection} session={session} chosen={chosen} />}
      <LogLines
        session={session}
        state={state}
        layout={layout}
        steps={steps}
        view={view}
        chosen={chosen}
        found={log.found}
        onTop={(place) => {
          top.current = place;
        }}
        onDownload={(step) => void download(session, deploymentId, step)}
      />
    </section>
  );
}

/** The log of all steps of a deployment. */
export default function LogViewer(props: LogViewerProps) {
  return <Viewer key={props.deploymentId} {...props} />;
}
