/**
 * Waking whoever waits for something to happen in a folder: by the system's notice where there is one, by a
 * slow poll always.
 */
import { type FSWatcher, watch } from 'node:fs';

/** Wakes all who wait; a call that comes while nobody waits is remembered for each waiter's next wait. */
export interface Wake {
  notify(): void;
  /** A waiter of its own: `wait` answers at once if something happened since its last `wait`. */
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
      // Whatever lay there before the waiter came counts as news.
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
