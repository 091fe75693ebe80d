/** The head of a step in the log: its status, how long it took, and whether its lines are shown. */
import type { Step } from '#contract/deployments/shapes.ts';
import { Status, stepLooks } from '../../../design/status.tsx';
import { Duration } from '../../../ui/Time.tsx';
import classes from './log.module.css';

export interface StepHeadProps {
  readonly name: string;
  /** undefined: the deployment's steps are not known yet. */
  readonly step: Step | undefined;
  readonly lines: number;
  readonly isFolded: boolean;
  readonly onFold: () => void;
  readonly onDownload: () => void;
}

export function StepHead({ name, step, lines, isFolded, onFold, onDownload }: StepHeadProps) {
  return (
    <div className={classes.head}>
      <button type="button" className={classes.fold} aria-expanded={!isFolded} onClick={onFold}>
        <span aria-hidden="true" className={classes.chevron} data-folded={isFolded || undefined} />
        <bdi className={classes.stepName}>{step?.displayName ?? name}</bdi>
      </button>
      {step && <Status look={stepLooks[step.status]} />}
      {step?.startedAt !== undefined && (
        <span className={classes.faint}>
          <Duration since={step.startedAt} until={step.completedAt} />
        </span>
      )}
      <span className={classes.lines}>
        {lines === 0 ? 'no output' : `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`}
      </span>
      {lines > 0 && (
        <button type="button" className={classes.quiet} onClick={onDownload} aria-label={`Download ${name}`}>
          Download
        </button>
      )}
    </div>
  );
}
