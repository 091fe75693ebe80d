/** Runs jobs in parallel, the longest first, and each only when the tools that it needs are settled. */
import { join } from 'node:path';
import { run } from 'node:test';
import { expectedToolsVariable } from '../toolbox/places.ts';
import { root } from '../tree/repository.ts';
import { filesVariable, type Job, type Stage } from './job.ts';
import type { Tools } from './tool-builds.ts';

/** A job whose process has started. */
export interface RunningJob {
  readonly job: Job;
  /** Events of node's runner, kept until they are read. */
  readonly events: ReturnType<typeof run>;
  /** Resolves at the end of the job. */
  readonly ended: Promise<void>;
}

/**
 * Starts all jobs of a stage, as soon as there is room.
 * @param onStart called with each job in the order of the starts
 * @returns when all have ended, or an abort kept the others from starting
 */
export async function runJobs(
  { jobs, concurrency }: Stage,
  tools: Tools,
  signal: AbortSignal,
  onStart: (running: RunningJob) => void,
): Promise<void> {
  const waiting = new Set(jobs.toSorted((one, other) => other.seconds - one.seconds));
  const running = new Set<Promise<void>>();
  while (!signal.aborted && (waiting.size > 0 || running.size > 0)) {
    const settled = tools.nextSettled();
    for (const job of waiting) {
      if (running.size >= concurrency) break;
      if (!job.tools.every((name) => tools.isSettled(name))) continue;
      waiting.delete(job);
      const started = startJob(job, signal);
      onStart(started);
      running.add(started.ended);
      void started.ended.then(() => running.delete(started.ended));
    }
    await Promise.race([...running, ...(waiting.size > 0 ? [settled] : [])]);
  }
  await Promise.all(running);
}

const filesEntry = join(import.meta.dirname, 'run-files.ts');

function startJob(job: Job, signal: AbortSignal): RunningJob {
  const { files } = job;
  const isShared = files.length > 1;
  const env = {
    ...process.env,
    ...(isShared ? { [filesVariable]: JSON.stringify(files) } : {}),
    TEST_FILE_MINUTES: String(job.minutes),
    [expectedToolsVariable]: JSON.stringify(job.tools),
  };
  // The runner's own time limit ends tests, not a file that something still keeps open.
  const execArgv = ['--import', import.meta.resolve('./time-limit.mjs')];
  const events = run({
    signal,
    cwd: root,
    files: isShared ? [filesEntry] : [...files],
    concurrency: 1,
    execArgv,
    env,
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  events.on('test:summary', ({ file }) => {
    if (file === undefined) resolve();
  });
  return { job, events, ended };
}
