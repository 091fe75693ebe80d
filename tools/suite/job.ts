/** Test files that run in one process, and what the runner knows about them beforehand. */
import type { ToolboxName } from '../toolbox/places.ts';

export interface Job {
  /** Relative to the root. */
  readonly files: readonly string[];
  /** Tools of the toolbox that they may use; the job begins when each is built or its build has failed. */
  readonly tools: readonly ToolboxName[];
  /** Expected duration. */
  readonly seconds: number;
  /** A job that takes longer has failed. */
  readonly minutes: number;
}

/** Holds the files of a job as JSON, for the process that runs them. */
export const filesVariable = 'TEST_FILES';

/** Jobs that may run in parallel. */
export interface Stage {
  readonly jobs: readonly Job[];
  /** Jobs at one time. */
  readonly concurrency: number;
}
