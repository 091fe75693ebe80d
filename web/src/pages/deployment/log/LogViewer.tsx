/** The log of a deployment: of all its steps, live, searched and linked to. */
import { Feed } from './Feed.tsx';
import { LogLines } from './LogLines.tsx';
import classes from './log.module.css';
import { SelectionBar } from './SelectionBar.tsx';
import { Toolbar } from './Toolbar.tsx';
import { hasFailed, lastLineOf } from './use-log.ts';
import { type LogViewerProps, useLogViewer } from './use-log-viewer.ts';

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
        found={log.found}
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
