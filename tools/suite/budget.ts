/** Time limit of the whole suite, however much is added, and its last duration on this machine. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../tree/repository.ts';

/** Minutes on two processors: of the suite alone, and with the builds of all tools that it needs. */
export const budget = { suite: 45, withBuilds: 70 } as const;

/** A run of `npm test`, with all but slow files. */
export interface SuiteRun {
  readonly seconds: number;
  readonly processors: number;
  /** Tools that were built in the meantime. */
  readonly builds: number;
}

const store = join(root, '.cache', 'last-suite.json');

export function recordRun(run: SuiteRun, file = store): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(run)}\n`);
}

/** @returns null where the whole suite has not run yet */
export function lastRun(file = store): SuiteRun | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SuiteRun;
  } catch {
    return null;
  }
}

/** By how many minutes a run was too long, as if it had had two processors; 0: it was not. */
export function minutesOver({ seconds, processors, builds }: SuiteRun): number {
  const minutes = (seconds / 60) * (processors / 2);
  return Math.max(0, minutes - (builds > 0 ? budget.withBuilds : budget.suite));
}
