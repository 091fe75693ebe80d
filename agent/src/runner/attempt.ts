/**
 * Everything that the parts of one attempt share, and how its steps and commands leave their traces in the
 * spool.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { StepStatus } from '#contract/schema/enumerations.ts';
import type { Job, Outcome, RunEvent } from '#protocol/messages.ts';
import type { Driver, StateReading } from '../drivers/driver.ts';
import type { WorkFolderPaths } from '../slots/work-folder.ts';
import type { RunnerOrder, SpoolPaths } from '../spool/layout.ts';
import { type ExecRequest, type ExecResult, execute } from '../processes/exec.ts';
import { RunFailure } from '../processes/failure.ts';
import type { ProviderAccess } from '../providers/provider-access.ts';
import { type StopWatch, stopped } from '../processes/stop.ts';
import type { TreeClient } from './tree/tree-client.ts';

export interface Attempt {
  readonly job: Job;
  readonly order: RunnerOrder;
  readonly spool: SpoolPaths;
  readonly folders: WorkFolderPaths;
  readonly driver: Driver;
  readonly stop: StopWatch;
  readonly events: EventLog;
  /**
   * Absolute path of each program by name, empty for one that is not there; the tool's own is put there once
   * its version is known.
   */
  readonly toolPaths: Record<string, string>;
  /** Replaced when its process was killed. */
  tree: TreeClient;
  /** Where the tool's providers come from; null where that is the run's own affair. */
  providers: ProviderAccess | null;
  /** What is known of the outcome so far; it stands in the outcome however the attempt ends. */
  readonly facts: Partial<Outcome>;
  /** How often its changing command was repeated. */
  retryCount?: number;
}

// An event as its writer gives it: the time is added here.
type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** The attempt's event file: it only grows, one line per event. */
export class EventLog implements Disposable {
  readonly #descriptor: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  append(event: Untimed<RunEvent>): void {
    writeSync(this.#descriptor, `${JSON.stringify({ ...event, at: new Date().toISOString() })}\n`);
  }

  sync(): void {
    fsyncSync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/** A scratch file of the attempt in the spool: what a command's captured output is called. */
export function scratchPath(attempt: Pick<Attempt, 'spool'>, name: string): string {
  const folder = join(attempt.spool.folder, 'scratch');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, name.replaceAll('/', '_'));
}

/** Appends a line of our own to a step's log. */
export function say(attempt: Pick<Attempt, 'spool'>, step: string, text: string): void {
  mkdirSync(attempt.spool.steps, { recursive: true, mode: 0o700 });
  const descriptor = openSync(attempt.spool.stepLog(step), 'a', 0o600);
  writeSync(descriptor, `${text}\n`);
  closeSync(descriptor);
}

/** A warning in a step's log and among the events. */
export function warn(attempt: Attempt, step: string, text: string): void {
  say(attempt, step, `Warning: ${text}`);
  attempt.events.append({ kind: 'warning', step, text });
}

/** Runs one step: its start and end are events, and a failure is the last line of its log. */
export async function inStep<Value>(
  attempt: Attempt,
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
    const status = stepEnd(error);
    if (!(error instanceof RunFailure) || !isSaidByTool(error))
      say(attempt, step, `${status === 'CANCELLED' ? 'Ended' : 'Error'}: ${(error as Error).message}`);
    attempt.events.append({ kind: 'step', step, status });
    throw error;
  }
}

export function skipStep(attempt: Attempt, step: string): void {
  attempt.events.append({ kind: 'step', step, status: 'SKIPPED' });
}

function stepEnd(error: unknown): StepStatus {
  const result = error instanceof RunFailure ? error.facts.result : 'internal';
  return result === 'aborted' ? 'CANCELLED' : result === 'timed-out' ? 'TIMEOUT' : 'FAIL';
}

// A tool that ended with a code of its own has said why in the same log.
function isSaidByTool(failure: RunFailure): boolean {
  return failure.facts.exitCode !== undefined;
}

/** What the outcome says of a state. */
export function takeReading(attempt: Pick<Attempt, 'facts' | 'job'>, reading: StateReading): void {
  // What the tool has encrypted is told by the tool afterwards; a destroy leaves nothing to tell.
  if (reading.isEncrypted === true && attempt.job.type !== 'destroy') return;
  Object.assign(attempt.facts, {
    outputs: reading.outputs,
    resources: reading.resources,
    resourceCount: reading.resourceCount,
    stateFileHash: reading.hash,
  });
}

export type CommandRequest = Pick<ExecRequest, 'program' | 'args' | 'cwd' | 'environment'> &
  Partial<
    Pick<
      ExecRequest,
      'captureTo' | 'inputFrom' | 'onStart' | 'hasChannel' | 'sandbox' | 'interrupts' | 'isInterruptedOnce'
    >
  > & {
    readonly step: string;
    readonly label: string;
    /** Program's name in records. */
    readonly name: string;
    /** Another uid than the slot's: the owner of a local repository. */
    readonly uid?: number | null;
    /** File for the output where it is not the step's log. */
    readonly log?: string;
  };

export interface CommandEnd extends ExecResult {
  /** The end of what the command appended to its step's log, at most 1 MB. */
  output(): string;
}

/** Runs one command under the slot's uid; its output goes to its step's log, its end into the events. */
export async function runCommand(attempt: Attempt, request: CommandRequest): Promise<CommandEnd> {
  mkdirSync(attempt.spool.steps, { recursive: true, mode: 0o700 });
  const log = request.log ?? attempt.spool.stepLog(request.step);
  const from = sizeOf(log);
  const { uid = attempt.order.slotUid, step, label, name, ...rest } = request;
  const end = await execute({
    ...rest,
    uid,
    log,
    stop: attempt.stop,
    abortSeconds: attempt.job.limits.abortSeconds,
  });
  attempt.events.append({
    kind: 'process',
    step,
    program: name,
    label,
    exitCode: end.exitCode,
    signal: end.signal,
    milliseconds: end.milliseconds,
  });
  return { ...end, output: () => outputSince(log, from) };
}

/**
 * Turns a command's bad end into the failure of the phase.
 * @param explain the sentence for a person, from the command's output
 */
export function failureOf(
  attempt: Attempt,
  end: CommandEnd,
  label: string,
  explain: (output: string) => string | null,
): RunFailure {
  if (attempt.stop.reason !== null && end.stop !== null) return stopped(end.stop, label);
  const output = end.output();
  const message = explain(output) ?? lastLines(output);
  if (end.exitCode === null) {
    return new RunFailure(
      `${label} was ended by signal ${end.signal ?? 'unknown'}${message === '' ? '' : `: ${message}`}`,
      {
        result: 'failed',
        failedCommand: label,
      },
    );
  }
  return new RunFailure(
    message === '' ? `${label} ended with code ${end.exitCode} and said nothing` : message,
    {
      result: 'failed',
      failedCommand: label,
      exitCode: end.exitCode,
    },
  );
}

/** The last 20 lines, without colours. */
function lastLines(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split(/\r?\n/)
    .map((line) => line.slice(0, 1000))
    .filter((line) => line.trim() !== '');
  return lines.slice(-20).join('\n');
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const tailBytes = 1_000_000;

/** What was appended to a file since it had a size, at most the last 1 MB. */
export function outputSince(path: string, from: number): string {
  const size = sizeOf(path);
  const start = Math.max(from, size - tailBytes);
  if (size <= start) return '';
  const bytes = Buffer.alloc(size - start);
  const descriptor = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, start)).toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}
