/** The log of a deployment: of all its steps, live, searched and linked to. */
import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Feed } from './Feed.tsx';
import { LogLines } from './LogLines.tsx';
import classes from './log.module.css';
import type { LogSession } from './log-session.ts';
import type { LineSelection } from './selection.ts';
import { Toolbar } from './Toolbar.tsx';
import { type ChosenLines, hasFailed, lastLineOf } from './use-log.ts';
import { type LogViewerProps, useLogViewer } from './use-log-viewer.ts';

interface SelectionBarProps {
  readonly selection: LineSelection;
  readonly session: LogSession;
  readonly chosen: ChosenLines;
}

/** Actions for the lines in the address. */
function SelectionBar({ selection, session, chosen }: SelectionBarProps) {
  const link = useClipboard();
  const text = useClipboard();
  const { step, from, to } = selection;
  const name = from === to ? `Line ${from}` : `Lines ${from} to ${to}`;
  const copyLink = () => link.copy(chosen.hrefOf(selection));
  const copyLines = () =>
    void session.ask('text', { step, from: from - 1, to }).then((lines) => text.copy(lines));
  return (
    <div className={classes.notice}>
      <span>
        {name} of <bdi>{step}</bdi>
      </span>
      <Button size="compact-xs" variant="default" onClick={copyLink}>
        {link.copied ? 'Link copied' : 'Copy link'}
      </Button>
      <Button size="compact-xs" variant="default" onClick={copyLines}>
        {text.copied ? 'Copied' : from === to ? 'Copy line' : 'Copy lines'}
      </Button>
      <Button size="compact-xs" variant="subtle" onClick={() => chosen.select(undefined)}>
        Clear
      </Button>
    </div>
  );
}

function Viewer(props: LogViewerProps) {
  const { deploymentId, steps, isOver } = props;
  const { session, state, chosen, view, layout, log, onWrap, onError, onDownload, onTop } =
    useLogViewer(props);
  return (
    <section className={classes.viewer} aria-label="Log">
      <Toolbar
        log={log}
        view={view}
        isOver={isOver}
        steps={layout.steps}
        hasFailed={steps.some(hasFailed)}
        onWrap={onWrap}
        onError={() => void onError()}
        onDownload={() => void onDownload()}
      />
      <Feed
        key={state.restarts}
        session={session}
        deploymentId={deploymentId}
        steps={steps}
        upTo={lastLineOf(layout)}
      />
      {chosen.selection && <SelectionBar selection={chosen.selection} session={session} chosen={chosen} />}
      <LogLines
        session={session}
        state={state}
        layout={layout}
        steps={steps}
        view={view}
        chosen={chosen}
        searchHit={log.searchHit}
        onTop={onTop}
        onDownload={(step) => void onDownload(step)}
      />
    </section>
  );
}

/** The log of all steps of a deployment. */
export default function LogViewer(props: LogViewerProps) {
  return <Viewer key={props.deploymentId} {...props} />;
}
