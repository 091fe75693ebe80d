/** Events of node's test runner, as a job reports them. */
import type { RunningJob } from './run-jobs.ts';

/** What we read of an event; which fields there are depends on the type. */
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

/** The events of a job up to its end, without the runner's own closing counts, which `report.ts` replaces. */
export async function* eventsOf({ events }: RunningJob): AsyncGenerator<TestEvent> {
  for await (const event of events as AsyncIterable<TestEvent>) if (!isClosingCount(event)) yield event;
}

function isClosingCount({ type, data: { nesting, message = '' } }: TestEvent): boolean {
  const pattern = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
  return type === 'test:diagnostic' && nesting === 0 && pattern.test(message);
}
