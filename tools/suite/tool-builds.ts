/** Builds the tools that tests need while the tests run that do not need them. */
import { type BuildLog, makeTool } from '../toolbox/make-tool.ts';
import { isPythonTool, placeOf, type ToolboxName } from '../toolbox/places.ts';
import type { Job } from './job.ts';

/** Tools of the toolbox, each of which is there at some time, or known not to come. */
export interface Tools {
  isSettled(name: ToolboxName): boolean;
  /** Resolves when the next tool is settled. */
  nextSettled(): Promise<void>;
}

/** The tools that are there now; nothing is built. */
export const toolsAsTheyAre: Tools = {
  isSettled: () => true,
  nextSettled: () => new Promise(() => {}),
};

type Make = (name: ToolboxName, log: BuildLog, signal: AbortSignal) => Promise<boolean>;

/** A build of all tools that some jobs need and that are missing. */
export class ToolBuilds implements Tools {
  /** Tools that are there now and were not before. */
  readonly built: ToolboxName[] = [];
  /** Tools that could not be built; the log says why. */
  readonly failed: ToolboxName[] = [];
  readonly #open: Set<ToolboxName>;
  #next = Promise.withResolvers<void>();

  /** @param make replaced by tests */
  constructor(jobs: readonly Job[], log: BuildLog, signal: AbortSignal, make: Make = makeTool) {
    const missing = inOrder(jobs).filter((name) => placeOf(name) === null);
    this.#open = new Set(missing);
    // Programs of PyPI are downloaded while Go keeps the processors busy.
    for (const lane of [missing.filter(isPythonTool), missing.filter((name) => !isPythonTool(name))])
      void this.#makeEach(lane, withoutRepeats(log), signal, make);
  }

  async #makeEach(names: readonly ToolboxName[], log: BuildLog, signal: AbortSignal, make: Make) {
    for (const name of names) {
      const isThere = !signal.aborted && (await make(name, log, signal).catch(failureOf(name, log)));
      (isThere ? this.built : this.failed).push(name);
      this.#open.delete(name);
      this.#next.resolve();
      this.#next = Promise.withResolvers();
    }
  }

  isSettled(name: ToolboxName): boolean {
    return !this.#open.has(name);
  }

  nextSettled(): Promise<void> {
    return this.#next.promise;
  }
}

/** Logs once what all builds lack, such as Go. */
function withoutRepeats(log: BuildLog): BuildLog {
  const errors = new Set<string>();
  return {
    info: (line) => log.info(line),
    error: (line) => {
      if (!errors.has(line)) log.error(line);
      errors.add(line);
    },
  };
}

/** An unexpected failure leaves tests out, or fails them, like any other. */
function failureOf(name: ToolboxName, log: BuildLog) {
  return (error: unknown): boolean => {
    log.error(`${name} was not built: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  };
}

/** Tools that the most test time waits for come first. */
function inOrder(jobs: readonly Job[]): ToolboxName[] {
  const waiting = new Map<ToolboxName, number>();
  for (const { tools, seconds } of jobs)
    for (const name of tools) waiting.set(name, (waiting.get(name) ?? 0) + seconds);
  return [...waiting].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
}
