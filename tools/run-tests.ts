/** Runs test files with node's test runner and sums up several batches in one closing count. */
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { root } from './repository.ts';

/** Test files that may run in parallel. */
export interface Batch {
  /** Relative to the root. */
  readonly files: readonly string[];
  /** Files at one time. */
  readonly concurrency: number;
  /** A file that takes longer has failed. */
  readonly fileMinutes: number;
}

interface Skip {
  readonly name: string;
  readonly file: string;
  readonly reason: string;
}

interface Duration {
  readonly file: string;
  readonly seconds: number;
}

/** So many of the files that took longest are named, if they took this long. */
const [namedFiles, longSeconds] = [15, 30];

/** What the runner counts, and the word it prints for it, in its order. */
const counted = {
  tests: 'tests',
  suites: 'suites',
  passed: 'pass',
  failed: 'fail',
  cancelled: 'cancelled',
  skipped: 'skipped',
  todo: 'todo',
} as const;
type Counts = Record<keyof typeof counted, number>;
const names = Object.keys(counted) as (keyof Counts)[];

/**
 * Runs batches one after the other and prints every test, every skip with its reason, the slowest files, and the counts last.
 * @returns whether all files ran and no test failed
 */
export async function runTests(batches: readonly Batch[]): Promise<boolean> {
  const started = performance.now();
  const counts: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
  const skips: Skip[] = [];
  const durations: Duration[] = [];
  let isGood = true;
  const { signal } = abortOnSignals();

  async function* events() {
    for (const batch of batches.filter(({ files }) => files.length > 0)) {
      for await (const event of startBatch(batch, signal)) {
        if (event.type === 'test:summary' && event.data.file !== undefined)
          durations.push({ file: event.data.file, seconds: event.data.duration_ms / 1000 });
        else if (event.type === 'test:summary') {
          isGood &&= event.data.success;
          for (const name of names) counts[name] += event.data.counts[name];
        }
        if (event.type === 'test:pass' && event.data.skip) skips.push(skipOf(event.data));
        if (!isClosingCount(event)) yield event;
      }
    }
  }

  const report = Readable.from(events()).compose(new spec());
  for await (const chunk of report) process.stdout.write(chunk as string);
  printSkips(skips);
  printSlowest(durations);
  for (const name of names) console.log(`ℹ ${counted[name]} ${counts[name]}`);
  console.log(`ℹ duration_ms ${(performance.now() - started).toFixed(1)}`);
  return isGood && counts.failed === 0 && counts.cancelled === 0;
}

/** A signal to this process ends the test files too. */
function abortOnSignals(): AbortController {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort();
      setTimeout(() => process.exit(128 + constants.signals[name]), 10_000).unref();
    });
  }
  return controller;
}

function startBatch({ files, concurrency, fileMinutes }: Batch, signal: AbortSignal) {
  const env = { ...process.env, TEST_FILE_MINUTES: String(fileMinutes) };
  // The runner's own time limit ends tests, not a file that something still keeps open.
  const execArgv = ['--import', import.meta.resolve('./time-limit.mjs')];
  return run({ signal, cwd: root, files: [...files], concurrency, isolation: 'process', execArgv, env });
}

type TestEvent = { type: string; data: unknown };

/** The runner's own closing lines of one batch, which the sum replaces. */
function isClosingCount(event: TestEvent): boolean {
  if (event.type !== 'test:diagnostic') return false;
  const { nesting, message } = event.data as { nesting: number; message: string };
  return (
    nesting === 0 && /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(message)
  );
}

function skipOf(data: { name: string; file?: string; skip?: string | boolean }): Skip {
  return {
    name: data.name,
    file: data.file ?? '',
    reason: typeof data.skip === 'string' && data.skip ? data.skip : 'no reason given',
  };
}

function printSlowest(durations: readonly Duration[]): void {
  const slowest = durations
    .filter(({ seconds }) => seconds >= longSeconds)
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, namedFiles);
  if (slowest.length === 0) return;
  console.log('Slowest files:');
  for (const { file, seconds } of slowest)
    console.log(`  ${file.replace(`${root}/`, '')}: ${seconds.toFixed(0)} s`);
  console.log('');
}

function printSkips(skips: readonly Skip[]): void {
  if (skips.length > 0) console.log('\nSkipped:');
  for (const { name, file, reason } of skips)
    console.log(`  ${name} (${file.replace(`${root}/`, '')}): ${reason}`);
  console.log('');
}
