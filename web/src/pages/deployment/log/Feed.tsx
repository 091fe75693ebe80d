/** Brings the bytes of the log to the page, and says how far they are there while no more come. */
import { Button } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { errorText } from '../../../api/errors.ts';
import type { FollowState } from '../../../api/follow.ts';
import { useDeploymentStream } from '../../../api/live.ts';
import { queryClient, read, refresh } from '../../../api/queries.ts';
import classes from './log.module.css';
import type { LogSession } from './log-session.ts';

/** Position to continue reading: by step, the position of the service and the number of bytes that are here. */
type StoredPositions = Map<string, { next: string | undefined; bytes: number }>;

const silent = new Set(['NOT_STARTED', 'SKIPPED']);

interface LogReading {
  readonly session: LogSession;
  readonly deploymentId: string;
  readonly positions: StoredPositions;
  readonly signal: AbortSignal;
}

async function readStep(
  { session, deploymentId, positions, signal }: LogReading,
  step: string,
): Promise<void> {
  const position = positions.get(step) ?? { next: undefined, bytes: 0 };
  positions.set(step, position);
  for (let isMore = true; isMore && !signal.aborted; ) {
    const page = await queryClient.fetchQuery({
      ...read('getStepLog', {
        params: { deploymentLogId: deploymentId, name: step },
        query: { startTime: position.next },
      }),
      staleTime: 0,
      gcTime: 0,
    });
    if (signal.aborted) return;
    const text = page.events.map(({ message }) => `${message}\n`).join('');
    const bytes = new TextEncoder().encode(text).length;
    const at = page.events[0]?.timestamp;
    if (bytes > 0) session.appendStored({ step, offset: position.bytes, bytes, text, ...(at ? { at } : {}) });
    position.bytes += bytes;
    position.next = page.nextStartTime;
    isMore = page.hasMoreLogs ?? false;
  }
}

/** Adds what was stored since the last time, of the steps that the deployment has by now. @throws ApiError */
async function readStoredLog(reading: LogReading): Promise<void> {
  const steps = await queryClient.fetchQuery({
    ...read('listSteps', { params: { deploymentLogId: reading.deploymentId } }),
    staleTime: 0,
  });
  for (const { name, status, completedAt } of steps) {
    if (silent.has(status)) continue;
    await readStep(reading, name);
    if (completedAt !== undefined && !reading.signal.aborted) reading.session.end(name);
  }
}

interface StoredLogProps {
  readonly session: LogSession;
  readonly deploymentId: string;
}

type ReadOutcome = { readonly at: number } | { readonly error: unknown };

function textOf(outcome: ReadOutcome | undefined): string {
  if (outcome === undefined) return 'Loading the stored log.';
  if ('error' in outcome) return errorText(outcome.error).text;
  const time = new Date(outcome.at).toLocaleTimeString();
  return `This log is not live: events do not reach this browser. It shows what was stored at ${time}.`;
}

/** Shows the stored log where nothing comes live, says so, and reads the rest on demand. */
function StoredLog({ session, deploymentId }: StoredLogProps) {
  const [outcome, setOutcome] = useState<ReadOutcome>();
  const [turn, setTurn] = useState(0);
  const positions = useRef<StoredPositions>(new Map());
  const readAll = useEffectEvent(async (signal: AbortSignal) => {
    try {
      await readStoredLog({ session, deploymentId, positions: positions.current, signal });
      if (!signal.aborted) setOutcome({ at: Date.now() });
    } catch (error) {
      if (!signal.aborted) setOutcome({ error });
    }
  });
  useEffect(() => {
    const ending = new AbortController();
    void readAll(ending.signal);
    return () => ending.abort();
  }, [turn, session, deploymentId]);
  const again = () => {
    void refresh(['getDeployment']);
    setTurn(turn + 1);
  };
  return (
    <div role="status" className={classes.notice} data-tone="lost">
      <span>{textOf(outcome)}</span>
      <Button size="compact-xs" variant="default" onClick={again}>
        Load newer lines
      </Button>
    </div>
  );
}

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
