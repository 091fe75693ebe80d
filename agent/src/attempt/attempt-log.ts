/** Records an attempt's steps in the spool: log lines and events. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { StepStatus } from '#contract/schema/enumerations.ts';
import { RunFailure } from '../processes/failure.ts';
import { isFullDisk } from '../processes/full-disk.ts';
import type { AttemptContext } from './attempt-context.ts';

/** The path of a scratch file in the spool, for a command's captured output. */
export function scratchPath(attempt: Pick<AttemptContext, 'spool'>, name: string): string {
  const { scratch: folder } = attempt.spool;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, name.replaceAll('/', '_'));
}

/** Appends one of the runner's own lines to a step's log. */
export function logLine(attempt: Pick<AttemptContext, 'spool'>, step: string, text: string): void {
  mkdirSync(attempt.spool.steps, { recursive: true, mode: 0o700 });
  const descriptor = openSync(attempt.spool.stepLog(step), 'a', 0o600);
  writeSync(descriptor, `${text}\n`);
  closeSync(descriptor);
}

/** Appends a line about an end, which counts more than the line: on a full disk, the line is left out. */
export function logEnd(attempt: Pick<AttemptContext, 'spool'>, step: string, text: string): void {
  try {
    logLine(attempt, step, text);
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  }
}

/** Adds a warning to a step's log and to the events. */
export function warn(attempt: AttemptContext, step: string, text: string): void {
  logLine(attempt, step, `Warning: ${text}`);
  attempt.events.append({ kind: 'warning', step, text });
}

/** Why a step ends without having done its work, although the run continues; the message is for people. */
export class Forgone extends Error {
  override readonly name = 'Forgone';
  /** SKIPPED: it was not tried; WARNING: it failed. */
  readonly status: 'SKIPPED' | 'WARNING';

  constructor(status: 'SKIPPED' | 'WARNING', message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Runs a step that the run can do without: its failure is a warning.
 * @returns null if it has failed or was not tried, which its log says
 * @throws RunFailure only if the run is stopped
 */
export async function inOptionalStep<Value>(
  attempt: AttemptContext,
  step: string,
  work: () => Promise<Value>,
): Promise<Value | null> {
  let forgone: Forgone | null = null;
  try {
    return await inStep(attempt, step, async () => {
      try {
        return await work();
      } catch (error) {
        attempt.stop.throwIfStopped();
        throw (forgone = error instanceof Forgone ? error : new Forgone('WARNING', (error as Error).message));
      }
    });
  } catch (error) {
    if (forgone === null) throw error;
    return null;
  }
}

/** Runs one step: records its start and end as events, and a failure as the last line of its log. */
export async function inStep<Value>(
  attempt: AttemptContext,
  step: string,
  work: () => Promise<Value>,
): Promise<Value> {
  attempt.stop.throwIfStopped();
  attempt.events.append({ kind: 'step', step, status: 'IN_PROGRESS' });
  try {
    const value = await work();
    attempt.events.append({ kind: 'step', step, status: 'SUCCESS' });
    return value;
  } catch (error) {
    endStep(attempt, step, error);
    throw error;
  }
}

/** Ends a step that has failed, with the reason as the last line of its log. */
export function endStep(
  attempt: Pick<AttemptContext, 'spool' | 'events'>,
  step: string,
  error: unknown,
): void {
  const status = error instanceof Forgone ? error.status : stepEnd(error);
  if (error instanceof Forgone) logEnd(attempt, step, `${beginnings[error.status]}: ${error.message}.`);
  else if (!(error instanceof RunFailure) || !isReportedByTool(error))
    logEnd(attempt, step, `${status === 'CANCELLED' ? 'Ended' : 'Error'}: ${(error as Error).message}`);
  attempt.events.append({ kind: 'step', step, status });
}

export function skipStep(attempt: AttemptContext, step: string): void {
  attempt.events.append({ kind: 'step', step, status: 'SKIPPED' });
}

const beginnings = { SKIPPED: 'Skipped', WARNING: 'Warning' } as const;

function stepEnd(error: unknown): StepStatus {
  const result = error instanceof RunFailure ? error.facts.result : 'internal';
  return result === 'aborted' ? 'CANCELLED' : result === 'timed-out' ? 'TIMEOUT' : 'FAIL';
}

// A tool that ended with an exit code has written the reason to the same log.
function isReportedByTool(failure: RunFailure): boolean {
  return failure.facts.exitCode !== undefined;
}
