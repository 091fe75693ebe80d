/** Clicks before the page has loaded its data take effect once it has. */
import { useEffect, useEffectEvent, useState } from 'react';

/**
 * @param isReady whether everything is there that the actions need
 * @param act does what was clicked
 */
export function useLater<Action>(isReady: boolean, act: (action: Action) => void) {
  const [waiting, setWaiting] = useState<{ readonly action: Action }>();
  const catchUp = useEffectEvent(() => {
    setWaiting(undefined);
    if (waiting) act(waiting.action);
  });
  const isDue = waiting !== undefined && isReady;
  useEffect(() => {
    if (isDue) catchUp();
  }, [isDue]);
  return {
    isWaiting: waiting !== undefined,
    /** Does it now or later; only what was clicked last is done. */
    run: (action: Action) => {
      setWaiting(isReady ? undefined : { action });
      if (isReady) act(action);
    },
    forget: () => setWaiting(undefined),
  };
}
