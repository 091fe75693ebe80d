/** How test files become jobs: which run at the same time, and how long each may take. */
import { availableParallelism } from 'node:os';
import { isSlowTest } from './choose-files.ts';
import { expectedSeconds, readDurations } from './durations.ts';
import type { ImportGraph } from './import-graph.ts';
import type { Job, Stage } from './job.ts';
import { neededTools } from './needed-tools.ts';

const minutesOf = { unit: 10, acceptance: 15, slow: 40 } as const;

/** @param files test files, relative to the root */
export function stagesOf(files: readonly string[], graph: ImportGraph): Stage[] {
  const needs = neededTools(graph);
  const durations = readDurations();
  const jobOf = (file: string, minutes: number): Job => ({
    files: [file],
    tools: [...(needs.get(file) ?? [])],
    seconds: expectedSeconds(file, durations),
    minutes,
  });
  const isAcceptance = (file: string) => file.startsWith('acceptance/');
  return [
    {
      jobs: files
        .filter((file) => !isSlowTest(file))
        .map((file) => jobOf(file, isAcceptance(file) ? minutesOf.acceptance : minutesOf.unit)),
      concurrency: Math.max(2, availableParallelism()),
    },
    // Some of them measure times, which others would change.
    { jobs: files.filter(isSlowTest).map((file) => jobOf(file, minutesOf.slow)), concurrency: 1 },
  ].filter(({ jobs }) => jobs.length > 0);
}
