/** The head of a step in the log: its status, how long it took, and whether its lines are shown. */
import type { Step } from '#contract/deployments/shapes.ts';
import { Status, stepLooks } from '../../../design/status.tsx';
import { Duration } from '../../../ui/Time.tsx';
import type { LaidOutStep } from './layout.ts';
import classes from './log.module.css';

export interface StepHeadProps {
  readonly laidOut: LaidOutStep;
  /** undefined: the deployment's steps are not known yet. */
  readonly step: Step | undefined;
  readonly onFold: () => void;
  /** Shows the part of a very long log that begins with a line. */
  readonly onPart: (start: number) => void;
  readonly onDownload: () => void;
}

const number = (value: number) => value.toLocaleString('en');

function linesText({ lines, first, shown }: LaidOutStep): string {
  if (lines === 0) return 'no output';
  if (shown < lines) return `lines ${number(first + 1)} to ${number(first + shown)} of ${number(lines)}`;
  return `${number(lines)} ${lines === 1 ? 'line' : 'lines'}`;
}

function Parts({ laidOut, onPart }: StepHeadProps) {
  const { first, shown, lines } = laidOut;
  return (
    <>
      {first > 0 && (
        <button type="button" className={classes.quiet} onClick={() => onPart(Math.max(0, first - shown))}>
          Earlier lines
        </button>
      )}
      {first + shown < lines && (
        <button type="button" className={classes.quiet} onClick={() => onPart(first + shown)}>
          Later lines
        </button>
      )}
    </>
  );
}

export function StepHead(props: StepHeadProps) {
  const { laidOut, step, onFold, onDownload } = props;
  const { name, lines, isFolded } = laidOut;
  return (
    <div className={classes.head}>
      <button type="button" className={classes.fold} aria-expanded={!isFolded} onClick={onFold}>
        <span aria-hidden="true" className={classes.chevron} data-folded={isFolded || undefined} />
        <bdi className={classes.stepName}>{step?.displayName ?? name}</bdi>
      </button>
      {step && <Status look={stepLooks[step.status]} />}
      {step?.startedAt !== undefined && (
        <span className={classes.duration}>
          <Duration since={step.startedAt} until={step.completedAt} />
        </span>
      )}
      <span className={classes.lines}>{linesText(laidOut)}</span>
      <Parts {...props} />
      {lines > 0 && (
        <button type="button" className={classes.quiet} onClick={onDownload} aria-label={`Download ${name}`}>
          Download
        </button>
      )}
    </div>
  );
}
