/** Time to wait after too many failures. */
import { useState } from 'react';
import { ApiError } from '#contract/client/client.ts';
import { useNow } from '../../ui/Time.tsx';

/** Whole seconds from one time to another, both in milliseconds; 0 where it is over. */
function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Notes refusals, and counts down the time that they name. */
export function useWait(): { readonly seconds: number; readonly note: (error: unknown) => void } {
  const [until, setUntil] = useState(0);
  const now = useNow();
  return {
    seconds: secondsLeft(until, now),
    note: (error) => {
      if (error instanceof ApiError && error.status === 429)
        setUntil(Date.now() + 1000 * (error.retryAfterSeconds ?? 5));
    },
  };
}
