/** The place of messages: loaded as soon as the page has nothing else to do, so that it is there when it is needed. */
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';

const MessageList = lazy<() => ReactNode>(() =>
  import('./MessageList.tsx').catch(() => ({ default: () => null })),
);

/** At the latest after so long. */
const idleMilliseconds = 3000;

export function Messages() {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const wait = globalThis.requestIdleCallback ?? setTimeout;
    const timer = wait(() => setIdle(true), { timeout: idleMilliseconds } as never);
    return () => (globalThis.cancelIdleCallback ?? clearTimeout)(timer);
  }, []);
  return isIdle ? (
    <Suspense>
      <MessageList />
    </Suspense>
  ) : null;
}
