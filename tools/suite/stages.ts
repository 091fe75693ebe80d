/** Plan of jobs for test files: which run at the same time, and how long each may take. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../tree/repository.ts';
import { isSlowTest } from './choose-files.ts';
import { expectedSeconds, readDurations } from './durations.ts';
import type { ImportGraph } from './import-graph.ts';
import type { Job, Stage } from './job.ts';
import { neededTools } from './needed-tools.ts';

const minutesOf = { unit: 10, acceptance: 15, oneService: 30, slow: 40 } as const;

/** A process gets further files until this is reached, so that the last ones of a run do not run one by one. */
const sharedSeconds = 40;
/** The same for files that use one service: its start is cheap next to being the last job of a run. */
const oneServiceSeconds = 300;
/** The line with which a test file says why it cannot share its process. */
const alone = /^\/\/ Needs a process of its own: \S/m;

/** Rooms whose files share processes: starting one and importing the room takes most of the time of many a file. */
const sharing = new Set([
  'agent',
  'server',
  'cli',
  'contract',
  'guards',
  'protocol',
  'settings',
  'tools',
  'web',
]);

/** Test files that may run in one process, as a name of them all; null: the file runs alone. */
function groupOf(file: string): string | null {
  const [room = ''] = file.split('/');
  if (sharing.has(room)) return alone.test(readFileSync(join(root, file), 'utf8')) ? null : room;
  // Acceptance tests that need no service of their own use the one of their process.
  return /^acceptance\/(.*\/)?one-service\//.test(file) ? dirname(file) : null;
}

/** @param files test files, relative to the root */
export function stagesOf(files: readonly string[], graph: ImportGraph): Stage[] {
  const needs = neededTools(graph);
  const durations = readDurations();
  const jobOf = (file: string, minutes: number): Job => ({
    files: [file],
    tools: [...(needs.get(file) ?? [])].toSorted(),
    seconds: expectedSeconds(file, durations),
    minutes,
  });
  const [slow, fast] = [files.filter(isSlowTest), files.filter((file) => !isSlowTest(file))];
  const shared = Map.groupBy(fast, groupOf);
  const single = shared.get(null) ?? [];
  shared.delete(null);
  const isAcceptance = (file: string) => file.startsWith('acceptance/');
  return [
    {
      jobs: [
        ...single.map((file) => jobOf(file, isAcceptance(file) ? minutesOf.acceptance : minutesOf.unit)),
        ...[...shared.values()].flatMap((group) =>
          group.every(isAcceptance)
            ? joinJobs(
                group.map((file) => jobOf(file, minutesOf.oneService)),
                oneServiceSeconds,
              )
            : joinJobs(
                group.map((file) => jobOf(file, minutesOf.unit)),
                sharedSeconds,
              ),
        ),
      ],
      // Two more than processors: tests wait for processes and files for a third of their time.
      concurrency: Math.max(2, availableParallelism()) + 2,
    },
    // Some of them measure times, which others would change.
    { jobs: slow.map((file) => jobOf(file, minutesOf.slow)), concurrency: 1 },
  ].filter(({ jobs }) => jobs.length > 0);
}

/**
 * Joins jobs that need the same tools, in their order, so that neighbours share a process.
 * @param limit seconds from which on a job gets no further file
 */
export function joinJobs(jobs: readonly Job[], limit = Infinity): Job[] {
  return [...Map.groupBy(jobs, ({ tools }) => JSON.stringify(tools)).values()].flatMap((same) => {
    const joined: Job[] = [];
    for (const job of same) {
      const last = joined.at(-1);
      if (!last || last.seconds + job.seconds > limit) joined.push(job);
      else
        joined[joined.length - 1] = {
          ...job,
          files: [...last.files, ...job.files],
          seconds: last.seconds + job.seconds,
        };
    }
    return joined;
  });
}
