/**
 * Wakes all waiters for a change in a folder: by the system's notification if available, and always by a slow
 * poll.
 */
import { type FSWatcher, watch } from 'node:fs';

/** Wakes all waiters; a call while nobody waits is remembered for each waiter's next wait. */
export interface Wake {
  notify(): void;
  /** A new waiter: `wait` returns immediately if something happened since its last `wait`. */
  waiter(): { wait(longestMilliseconds: number): Promise<void> };
}

export function createWake(): Wake {
  let count = 0;
  const waiting = new Set<() => void>();
  return {
    notify() {
      count++;
      for (const resume of waiting) resume();
    },
    waiter() {
      // A new waiter's first wait returns immediately.
      let seen = -1;
      return {
        async wait(longestMilliseconds) {
          if (seen === count)
            await new Promise<void>((resolve) => {
              const timer = setTimeout(() => resume(), longestMilliseconds);
              const resume = () => {
                clearTimeout(timer);
                waiting.delete(resume);
                resolve();
              };
              waiting.add(resume);
            });
          seen = count;
        },
      };
    },
  };
}

/**
 * Calls back whenever something in one of the folders changes. A folder that cannot be watched (the system's
 * watches are used up) is left to the waiters' own deadlines.
 */
export function watchFolders(folders: readonly string[], onChange: () => void): Disposable {
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    try {
      const watcher = watch(folder, onChange);
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Polled.
    }
  }
  return { [Symbol.dispose]: () => watchers.forEach((watcher) => watcher.close()) };
}
