/** Events of node's test runner, as a job reports them. */
import { relative } from 'node:path';
import { root } from '../tree/repository.ts';
import type { RunningJob } from './run-jobs.ts';

/** Fields of an event that we read; which ones exist depends on the type. */
export interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly nesting?: number;
    readonly message?: string;
    readonly skip?: string | boolean;
    readonly todo?: string | boolean;
    readonly success?: boolean;
    readonly duration_ms?: number;
    readonly details?: {
      readonly type?: string;
      readonly duration_ms?: number;
      readonly error?: { readonly failureType?: string };
    };
  };
}

/** A file and how long it took. */
type OnFile = (file: string, seconds: number) => void;

/**
 * The events of a job up to its end, as if each of its files had run in a process of its own, and without the runner's
 * own closing counts, which `report.ts` replaces.
 * @param onFile called at the end of each file, relative to the root
 */
export async function* eventsOf({ job, events }: RunningJob, onFile: OnFile): AsyncGenerator<TestEvent> {
  const all = withoutCounts(events as AsyncIterable<TestEvent>);
  if (job.files.length > 1) return yield* withoutWrappers(all, job.files, onFile);
  for await (const event of all) {
    const { file, duration_ms: milliseconds = 0 } = event.data;
    if (event.type === 'test:summary' && file !== undefined)
      onFile(relative(root, file), milliseconds / 1000);
    else yield event;
  }
}

async function* withoutCounts(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  for await (const event of events) if (!isClosingCount(event)) yield event;
}

function isClosingCount({ type, data: { nesting, message = '' } }: TestEvent): boolean {
  const pattern = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
  return type === 'test:diagnostic' && nesting === 0 && pattern.test(message);
}

/** Lifts tests out of those that stand for files, which remain only where a file did not load or has no test. */
async function* withoutWrappers(
  events: AsyncIterable<TestEvent>,
  files: readonly string[],
  onFile: OnFile,
): AsyncGenerator<TestEvent> {
  const unfinished = new Set(files);
  let hasTests = false;
  for await (const event of events) {
    const { type, data } = event;
    const { nesting = 0, name = '', details } = data;
    if (nesting > 0) {
      hasTests = true;
      yield { type, data: { ...data, nesting: nesting - 1 } };
    } else if (!files.includes(name)) {
      // Output, or the process itself, which is reported if it ended too early.
      if (type === 'test:summary' && data.file !== undefined) continue;
      yield name === '' ? event : { type, data: { ...data, name: [...unfinished].join(', ') } };
    } else if (type === 'test:pass' || type === 'test:fail') {
      unfinished.delete(name);
      onFile(name, (details?.duration_ms ?? 0) / 1000);
      const isOwnFailure = type === 'test:fail' && details?.error?.failureType !== 'subtestsFailed';
      if (isOwnFailure || !hasTests) yield* [{ type: 'test:start', data }, event];
      hasTests = false;
    }
  }
}
