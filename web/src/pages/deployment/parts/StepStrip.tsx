/** The steps of a deployment in order, each with its status, its time and a link to its log. */
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import type { DeploymentTimeline } from '#contract/deployments/timeline.ts';
import { StatusShape, stepLooks } from '../../../design/status.tsx';
import { spanText } from '../../../ui/spans.ts';
import { useNow } from '../../../ui/Time.tsx';
import classes from './parts.module.css';
import { stepName, stepTime, timedSteps, tryText } from './steps.ts';

export function StepStrip({ steps }: { readonly steps: readonly Step[] }) {
  const now = useNow();
  if (steps.length === 0) return null;
  return (
    <ol className={classes.steps} aria-label="Steps">
      {timedSteps(steps, now).map((timed) => {
        const { step, share } = timed;
        const look = stepLooks[step.status];
        return (
          <li key={step.id} data-status={step.status}>
            <Link
              to="."
              search={{ tab: 'log', step: step.name } as never}
              className={classes.step!}
              resetScroll={false}
            >
              <StatusShape look={look} />
              <bdi className={classes.stepName}>
                {stepName(step)
                  .split(/(?<=:)/)
                  .map((part) => (
                    <Fragment key={part}>
                      {part}
                      <wbr />
                    </Fragment>
                  ))}
              </bdi>
              <span className="visually-hidden">: {look.word}</span>
              <span className={classes.stepTime}>
                {[stepTime(timed), tryText(step)].filter(Boolean).join(' · ')}
              </span>
              <span className="visually-hidden">Log</span>
              <span className={classes.share} data-tone={look.tone} aria-hidden="true">
                <span style={{ width: `${Math.round(share * 100)}%` }} />
              </span>
            </Link>
          </li>
        );
      })}
    </ol>
  );
}

const parts = [
  ['toolMilliseconds', 'tool', 'The tool, hooks and tasks'],
  ['gitMilliseconds', 'git', 'git'],
  ['waitingMilliseconds', 'waiting', 'Behind other deployments, or for approval'],
  ['ownMilliseconds', 'service', 'Envarium itself'],
] as const;

/** Breakdown of the time: parts of one bar, and the same as numbers. */
export function TimeParts({ timeline }: { readonly timeline: DeploymentTimeline }) {
  if (timeline.milliseconds === 0) return null;
  const shown = parts.filter(([field]) => timeline[field] > 0);
  return (
    <div className={classes.times}>
      <span className={classes.timeBar} aria-hidden="true">
        {shown.map(([field, part]) => (
          <span key={part} data-part={part} style={{ flexGrow: timeline[field] }} />
        ))}
      </span>
      <dl className={classes.timeParts}>
        {shown.map(([field, part, hint]) => (
          <div key={part} data-part={part} title={hint}>
            <dt>{part}</dt>
            <dd>{spanText(timeline[field])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
