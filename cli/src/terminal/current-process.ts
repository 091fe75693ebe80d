/**
 * The process that a command runs in: its arguments, environment and streams. `main.ts` passes the real one; tests run
 * many commands in one process, each with arguments, environment and streams of its own.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type CommandProcess = Pick<
  NodeJS.Process,
  'argv' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'exitCode' | 'once' | 'off'
>;

const processes = new AsyncLocalStorage<CommandProcess>();

/** The process of the command that is running. */
export function currentProcess(): CommandProcess {
  return processes.getStore() ?? process;
}

/** Does something as a process. */
export function asProcess<Result>(its: CommandProcess, work: () => Result): Result {
  return processes.run(its, work);
}
