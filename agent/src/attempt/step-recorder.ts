/** Records an attempt's steps in the spool: their log lines, and their starts and ends as events. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { StepStatus } from '#contract/schema/enumerations.ts';
import { RunFailure } from '../processes/failure.ts';
import { isFullDisk } from '../processes/full-disk.ts';
import type { StopWatch } from '../processes/stop-watch.ts';
import type { SpoolPaths } from '../spool/layout.ts';
import type { EventLog } from './event-log.ts';

/** Why a step ends without having done its work, although the run continues; the message is for people. */
export class ForgoneStep extends Error {
  override readonly name = 'ForgoneStep';
  /** SKIPPED: it was not tried; WARNING: it failed. */
  readonly status: 'SKIPPED' | 'WARNING';

  constructor(status: 'SKIPPED' | 'WARNING', message: string) {
    super(message);
    this.status = status;
  }
}

const beginnings = { SKIPPED: 'Skipped', WARNING: 'Warning' } as const;

export class StepRecorder {
  readonly #spool: Pick<SpoolPaths, 'stepLog'>;
  readonly #events: Pick<EventLog, 'append'>;
  readonly #stop: Pick<StopWatch, 'throwIfStopped'>;

  /** @param spool its folders exist */
  constructor(
    spool: Pick<SpoolPaths, 'stepLog'>,
    events: Pick<EventLog, 'append'>,
    stop: Pick<StopWatch, 'throwIfStopped'>,
  ) {
    this.#spool = spool;
    this.#events = events;
    this.#stop = stop;
  }

  /** Appends one of the runner's own lines to a step's log. */
  log(step: string, text: string): void {
    const descriptor = openSync(this.#spool.stepLog(step), 'a', 0o600);
    writeSync(descriptor, `${text}\n`);
    closeSync(descriptor);
  }

  /** Appends a line about an end, which counts more than the line: on a full disk, the line is left out. */
  logEnd(step: string, text: string): void {
    try {
      this.log(step, text);
    } catch (error) {
      if (!isFullDisk(error)) throw error;
    }
  }

  /** Adds a warning to a step's log and to the events. */
  warn(step: string, text: string): void {
    this.log(step, `Warning: ${text}`);
    this.#events.append({ kind: 'warning', step, text });
  }

  /** Runs one step: records its start and end as events, and a failure as the last line of its log. */
  async run<Value>(step: string, work: () => Promise<Value>): Promise<Value> {
    this.#stop.throwIfStopped();
    this.#note(step, 'IN_PROGRESS');
    try {
      const value = await work();
      this.#note(step, 'SUCCESS');
      return value;
    } catch (error) {
      this.#end(step, error);
      throw error;
    }
  }

  /**
   * Runs a step that the run can do without: its failure is a warning.
   * @returns null if it has failed or was not tried, which its log says
   * @throws RunFailure only if the run is stopped
   */
  async runOptional<Value>(step: string, work: () => Promise<Value>): Promise<Value | null> {
    let forgone: ForgoneStep | null = null;
    try {
      return await this.run(step, async () => {
        try {
          return await work();
        } catch (error) {
          this.#stop.throwIfStopped();
          throw (forgone =
            error instanceof ForgoneStep ? error : new ForgoneStep('WARNING', (error as Error).message));
        }
      });
    } catch (error) {
      if (forgone === null) throw error;
      return null;
    }
  }

  skip(step: string): void {
    this.#note(step, 'SKIPPED');
  }

  /** Shows a failure at a step that has not started. */
  fail(step: string, error: unknown): void {
    this.#note(step, 'IN_PROGRESS');
    this.#end(step, error);
  }

  /** Ends a step that has failed, with the reason as the last line of its log. */
  #end(step: string, error: unknown): void {
    const status = error instanceof ForgoneStep ? error.status : stepEnd(error);
    if (error instanceof ForgoneStep) this.logEnd(step, `${beginnings[error.status]}: ${error.message}.`);
    else if (!(error instanceof RunFailure) || !isReportedByTool(error))
      this.logEnd(step, `${status === 'CANCELLED' ? 'Ended' : 'Error'}: ${(error as Error).message}`);
    this.#note(step, status);
  }

  #note(step: string, status: StepStatus): void {
    this.#events.append({ kind: 'step', step, status });
  }
}

function stepEnd(error: unknown): StepStatus {
  const result = error instanceof RunFailure ? error.facts.result : 'internal';
  return result === 'aborted' ? 'CANCELLED' : result === 'timed-out' ? 'TIMEOUT' : 'FAIL';
}

// A tool that ended with an exit code has written the reason to the same log.
function isReportedByTool(failure: RunFailure): boolean {
  return failure.facts.exitCode !== undefined;
}
