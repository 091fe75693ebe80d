/** Brings the bytes of the log to the page, and says how far they are there while no more come. */
import type { Step } from '#contract/deployments/shapes.ts';
import type { FollowState } from '../../../api/follow.ts';
import { useDeploymentStream } from '../../../api/live.ts';
import classes from './log.module.css';
import type { LogSession } from './log-session.ts';
import { StoredLog } from './StoredLog.tsx';

export interface FeedProps {
  readonly session: LogSession;
  readonly deploymentId: string;
  readonly steps: readonly Step[];
  /** The last line that is there, such as "line 12 of tf:apply"; undefined: none. */
  readonly upTo: string | undefined;
}

/** Nothing comes by the stream, and nothing will soon. */
const streamless: ReadonlySet<FollowState> = new Set(['unsupported', 'blocked', 'refused']);

function messageOf(state: FollowState, { session, steps, upTo }: FeedProps): string | undefined {
  if (state === 'lost')
    return upTo === undefined
      ? 'Connection lost, nothing of the log is here yet.'
      : `Connection lost, showing up to ${upTo}. It continues as soon as the service can be reached.`;
  if (upTo !== undefined || session.hasBytes) return undefined;
  if (state === 'ended') return 'This deployment has an empty log.';
  const hasBegun = steps.some(({ startedAt }) => startedAt !== undefined);
  return state === 'live' && !hasBegun ? 'The log is still empty.' : undefined;
}

export function Feed(props: FeedProps) {
  const { session, deploymentId } = props;
  const state = useDeploymentStream(deploymentId, (event) => {
    if (event.event === 'log') session.append(event.data);
    else if (event.event === 'step' && event.data.completedAt !== undefined) session.end(event.data.name);
    else if (event.event === 'end') session.end();
  });
  if (streamless.has(state)) return <StoredLog session={session} deploymentId={deploymentId} />;
  const message = messageOf(state, props);
  return (
    <div
      role="status"
      className={message && classes.notice}
      data-tone={state === 'lost' ? 'lost' : undefined}
    >
      {message}
    </div>
  );
}
