/** Says while the page hears of no changes, why, since when, and what to do. */
import { useIsFetching } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { errorText, isStatus } from '../api/errors.ts';
import { connectNow } from '../api/follow.ts';
import { useLiveness } from '../api/live.ts';
import { queryClient } from '../api/queries.ts';
import { TimeAgo } from '../ui/Time.tsx';
import classes from './Shell.module.css';

const slowMilliseconds = 4000;

/** Whether something has been read for longer than people wait without a word. */
function useIsSlow(): boolean {
  const isReading = useIsFetching() > 0;
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    if (!isReading) return;
    const timer = setTimeout(() => setIsSlow(true), slowMilliseconds);
    return () => {
      clearTimeout(timer);
      setIsSlow(false);
    };
  }, [isReading]);
  return isSlow;
}

function Refresh() {
  return (
    <button type="button" className={classes.barButton} onClick={() => void queryClient.invalidateQueries()}>
      Reload everything
    </button>
  );
}

function Message() {
  const { state, lostSince, error } = useLiveness();
  const isSlow = useIsSlow();
  if (state === 'lost' && lostSince !== undefined) {
    return (
      <>
        <span>
          Connection lost <TimeAgo at={new Date(lostSince).toISOString()} />. The page shows what it had, and
          keeps trying.
        </span>
        <button type="button" className={classes.barButton} onClick={connectNow}>
          Try now
        </button>
      </>
    );
  }
  if (state === 'unsupported') {
    return (
      <>
        <span>
          This browser cannot receive changes as they happen: the page shows what was there when it was
          opened.
        </span>
        <Refresh />
      </>
    );
  }
  if (state === 'blocked') {
    return (
      <>
        <span>
          Changes do not arrive: something between this browser and the service holds them back, such as a
          proxy.
        </span>
        <Refresh />
      </>
    );
  }
  if (state === 'refused' && isStatus(error, 404, 429)) {
    return (
      <>
        <span>Changes do not arrive here: {errorText(error).text}</span>
        <Refresh />
      </>
    );
  }
  return isSlow ? <span>The service is slow to respond. You do not need to do anything.</span> : null;
}

export function LiveBar() {
  return (
    <div role="status" className={classes.liveBar}>
      <Message />
    </div>
  );
}
