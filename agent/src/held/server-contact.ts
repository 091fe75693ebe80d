/** Shows runners that the server answers: touches each held attempt's contact file, at most once a second. */
import { uptime } from 'node:os';
import type { SpoolPaths } from '../spool/layout.ts';
import { writeWhole } from '../spool/write-file.ts';

const pauseMilliseconds = 1_000;

/** @param held the attempts' folders at the time of the call */
export function createServerContact(held: () => Iterable<SpoolPaths>): { touch(): void } {
  let lastTouch = -Infinity;
  return {
    touch() {
      if (performance.now() - lastTouch < pauseMilliseconds) return;
      lastTouch = performance.now();
      for (const paths of held()) {
        try {
          writeWhole(paths.contact, String(uptime()));
        } catch {
          // The folder may just have been removed.
        }
      }
    },
  };
}
