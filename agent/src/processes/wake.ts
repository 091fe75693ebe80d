/**
 * Wakes all waiters for a change in a folder: by the system's notification if available, and always by a slow
 * poll.
 */
import { type FSWatcher, watch } from 'node:fs';

/** Wakes waiters; a call while one does not wait is remembered for its next wait. */
export interface Wake<Topic extends string = never> {
  /** @param topic what has changed; without one, every waiter wakes */
  notify(topic?: Topic): void;
  /**
   * A new waiter: `wait` returns immediately at first, and if something happened since its last `wait`.
   * @param topic the only one that it is interested in; without one, all are
   */
  waiter(topic?: Topic): { wait(longestMilliseconds: number): Promise<void> };
}

/** Waiters for parts of an attempt's folder. */
export type AttemptWake = Wake<'report' | 'mark' | 'state' | 'outcome'>;

interface Waiter {
  readonly topic: string | undefined;
  isDue: boolean;
  resume: () => void;
}

export function createWake<Topic extends string = never>(): Wake<Topic> {
  const waiters = new Set<Waiter>();
  return {
    notify(topic) {
      for (const waiter of waiters) {
        if (topic !== undefined && waiter.topic !== undefined && waiter.topic !== topic) continue;
        waiter.isDue = true;
        waiter.resume();
      }
    },
    waiter(topic) {
      const waiter: Waiter = { topic, isDue: true, resume: () => {} };
      waiters.add(waiter);
      return {
        async wait(longestMilliseconds) {
          if (!waiter.isDue)
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, longestMilliseconds);
              waiter.resume = () => {
                clearTimeout(timer);
                resolve();
              };
            });
          waiter.isDue = false;
        },
      };
    },
  };
}

/**
 * Calls back whenever something in one of the folders changes. A folder that cannot be watched (the system's
 * watches are used up) is left to the waiters' own deadlines.
 * @param onChange gets the folder, and the changed name in it if the system reports it
 */
export function watchFolders(
  folders: readonly string[],
  onChange: (folder: string, name: string | null) => void,
): Disposable {
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    try {
      const watcher = watch(folder, (_, name) => onChange(folder, name));
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Polled.
    }
  }
  return { [Symbol.dispose]: () => watchers.forEach((watcher) => watcher.close()) };
}
