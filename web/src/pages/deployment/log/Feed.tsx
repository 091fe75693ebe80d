/** Brings the bytes of the log to the page, and says how far they are there while no more come. */
import { useDeploymentStream } from '../../../api/live.ts';
import type { LogSession } from './log-session.ts';
import classes from './log.module.css';

export interface FeedProps {
  readonly session: LogSession;
  readonly deploymentId: string;
  /** The last line that is there, such as "line 12 of tf:apply"; undefined: none. */
  readonly upTo: string | undefined;
}

export function Feed({ session, deploymentId, upTo }: FeedProps) {
  const state = useDeploymentStream(deploymentId, (event) => {
    if (event.event === 'log') session.append(event.data);
    else if (event.event === 'step' && event.data.completedAt !== undefined) session.end(event.data.name);
    else if (event.event === 'end') session.end();
  });
  const isLost = state === 'lost';
  return (
    <div
      role="status"
      className={isLost ? classes.notice : undefined}
      data-tone={isLost ? 'lost' : undefined}
    >
      {isLost && `Connection lost, showing up to ${upTo ?? 'nothing yet'}. It continues by itself.`}
    </div>
  );
}
