/** Shows the stored log where nothing comes live, says so, and reads the rest on demand. */
import { Button } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { errorText } from '../../../api/errors.ts';
import { refresh } from '../../../api/queries.ts';
import classes from './log.module.css';
import type { LogSession } from './log-session.ts';
import { readStoredLog, type StoredPositions } from './read-stored-log.ts';

export interface StoredLogProps {
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

export function StoredLog({ session, deploymentId }: StoredLogProps) {
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
