/** For tests: the processes that read and write the folders of runs. */

import {
  identifyProcess,
  type ProcessIdentity,
  textOrEmpty,
  withDescendants,
} from '../src/processes/proc.ts';

/** Those of a runner, once they have started. */
export function readersOf(runner: ProcessIdentity): ProcessIdentity[] {
  return [...withDescendants([runner.pid])]
    .filter((pid) => {
      const [program, ...args] = textOrEmpty(`/proc/${pid}/cmdline`).split('\0');
      return program === process.execPath && args.includes('tree-server');
    })
    .flatMap((pid) => identifyProcess(pid) ?? []);
}
