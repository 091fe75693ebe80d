/** Runs stages of test jobs and prints every test, every skip with its reason, the longest files, and the counts last. */
import { Readable } from 'node:stream';
import { spec } from 'node:test/reporters';
import type { Stage } from './job.ts';
import { Report } from './report.ts';
import { type RunningJob, runJobs } from './run-jobs.ts';
import { eventsOf, type TestEvent } from './test-events.ts';
import { type Tools, toolsAsTheyAre } from './tool-builds.ts';

export interface SuiteOptions {
  /** Default: nothing is built. */
  readonly tools?: Tools;
  /** Ends the test files. */
  readonly signal?: AbortSignal;
}

/**
 * Runs stages one after the other.
 * @returns what they add up to, printed already
 */
export async function runSuite(
  stages: readonly Stage[],
  { tools = toolsAsTheyAre, signal = new AbortController().signal }: SuiteOptions = {},
): Promise<Report> {
  const report = new Report();
  const started = new Readable({ objectMode: true, read() {} });
  const ended = (async () => {
    for (const stage of stages) await runJobs(stage, tools, signal, (job) => void started.push(job));
    started.push(null);
  })();
  ended.catch((error: Error) => started.destroy(error));

  async function* events(): AsyncGenerator<TestEvent> {
    // Tests of a job are printed as they end, and those of others that run at the same time afterwards.
    for await (const running of started as AsyncIterable<RunningJob>)
      for await (const event of eventsOf(running, (...file) => void report.durations.set(...file))) {
        report.add(event);
        // The reporter prints all failures again at a summary; there is one for each job, but they come at the end.
        if (event.type !== 'test:summary') yield event;
      }
  }

  for await (const chunk of Readable.from(events()).compose(new spec()))
    process.stdout.write(chunk as string);
  await ended;
  report.print();
  return report;
}
