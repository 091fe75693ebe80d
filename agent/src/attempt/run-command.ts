/** Runs one command of an attempt and explains its failure. */
import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { sharedSettings } from '#settings/server-and-agent.ts';
import { createMasker, patternsOf, type Secrets } from '../logs/mask.ts';
import { endProcessesOf } from '../processes/end-processes.ts';
import { execute } from '../processes/exec.ts';
import type { ExecRequest, ExecResult } from '../processes/exec-request.ts';
import { RunFailure } from '../processes/failure.ts';
import { signalQuietly } from '../processes/proc.ts';
import { processesWriting } from '../processes/processes-holding.ts';
import { placesOfProgram } from '../processes/programs.ts';
import { sandboxOf } from '../processes/sandbox.ts';
import { stopped } from '../processes/stop-watch.ts';
import { watchWaitedCpu } from '../processes/waited-cpu.ts';
import { isPlanSealed } from '../slots/work-folder.ts';
import type { AttemptContext } from './attempt-context.ts';

export type CommandRequest = Pick<ExecRequest, 'program' | 'args' | 'cwd' | 'environment'> &
  Partial<
    Pick<
      ExecRequest,
      | 'captureTo'
      | 'inputFrom'
      | 'onStart'
      | 'hasChannel'
      | 'interrupts'
      | 'isInterruptedOnce'
      | 'isDisposable'
    >
  > & {
    readonly step: string;
    readonly label: string;
    /** The program's name in the records. */
    readonly name: string;
    /** Folders and files that it has to see besides the system's and the run's. */
    readonly readable?: readonly string[];
    /** It fetches something, also where runs are kept from the network. */
    readonly needsNetwork?: boolean;
    /** File for the output, if not the step's log. */
    readonly log?: string;
    /** It only shows something in the log of another command: its time counts as that one's. */
    readonly isExtra?: true;
  };

export interface CommandEnd extends ExecResult {
  /** The end of what the command appended to its step's log, at most 1 MB, with secrets masked: it can be cut. */
  output(): string;
}

/** Runs one command under the slot's uid, in a sandbox of its own where there are any; its output goes to its step's log, its end to the events. */
export async function runCommand(attempt: AttemptContext, request: CommandRequest): Promise<CommandEnd> {
  mkdirSync(attempt.spool.steps, { recursive: true, mode: 0o700 });
  const log = request.log ?? attempt.spool.stepLog(request.step);
  const from = sizeOf(log);
  const { step, label, name, readable, needsNetwork, isExtra, ...rest } = request;
  const cpuMilliseconds = watchWaitedCpu();
  const output = () => maskedOutputSince(log, from, attempt.job.secrets);
  const ended = await execute({
    ...rest,
    ...sandboxFor(attempt, request),
    ...(attempt.order.runLimits === undefined ? {} : { limits: attempt.order.runLimits }),
    uid: attempt.order.slotUid,
    log,
    stop: attempt.stop,
    abortSeconds: attempt.job.limits.abortSeconds,
  });
  const end = { ...ended, stop: ended.stop ?? attempt.stop.checkLogs() };
  if (isExtra === true) return { ...end, output };
  attempt.events.append({
    kind: 'process',
    step,
    program: name,
    label,
    exitCode: end.exitCode,
    signal: end.signal,
    milliseconds: end.milliseconds,
    cpuMilliseconds: cpuMilliseconds(),
    ...(request.captureTo === undefined ? {} : { isReading: true }),
  });
  return { ...end, output };
}

function sandboxFor(
  { order, folders }: AttemptContext,
  request: CommandRequest,
): Pick<ExecRequest, 'sandbox'> {
  const { isolation } = order;
  if (isolation.bubblewrap === null) return {};
  const { program, readable = [], needsNetwork } = request;
  const places = sandboxOf(folders, isolation, {
    readable: [...placesOfProgram(program), ...readable],
    slotUid: order.slotUid,
    isPlanSealed: isPlanSealed(folders),
    ...(needsNetwork === undefined ? {} : { needsNetwork }),
  });
  return { sandbox: { isolation, places } };
}

/**
 * Turns a command's failure into the failure of the phase.
 * @param explain extracts the message for people from the command's output
 */
export function failureOf(
  attempt: AttemptContext,
  end: CommandEnd,
  label: string,
  explain: (output: string) => string | null,
): RunFailure {
  if (attempt.stop.reason !== null && end.stop !== null) return stopped(end.stop, label);
  const output = end.output();
  const message = (explain(output) ?? lastLines(output)) + hintOf(attempt, output);
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
    message === '' ? `${label} ended with code ${end.exitCode} without any output` : message,
    {
      result: 'failed',
      failedCommand: label,
      exitCode: end.exitCode,
    },
  );
}

const missesProcesses =
  /create new OS thread|resource temporarily unavailable|can(?:no|')t fork|pthread_create/i;

/** A tool that gets no more threads ends in its own words. */
function hintOf({ order }: AttemptContext, output: string): string {
  const { runLimits } = order;
  if (runLimits === undefined || !missesProcesses.test(output)) return '';
  return `\n\nThe run may have reached its limit of ${runLimits.processes} processes and threads (setting ${sharedSettings.runProcessLimit.name}).`;
}

/** The last 20 lines, without colours, and of lines that were written again and again only what they became. */
function lastLines(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).slice(0, 1000))
    .filter((line) => line.trim() !== '');
  return lines.slice(-20).join('\n');
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const tailBytes = 1_000_000;

/** The text appended to a file after an offset, at most the last 1 MB. Not to be shown. */
export function outputSince(path: string, from: number): string {
  return bytesSince(path, Math.max(from, sizeOf(path) - tailBytes)).toString('utf8');
}

/** The same with secrets masked, also one at the beginning of the last 1 MB. */
export function maskedOutputSince(path: string, from: number, secrets: Secrets): string {
  if (sizeOf(path) <= from) return '';
  const { longestBytes } = patternsOf(secrets);
  const masker = createMasker(secrets);
  const start = Math.max(from, sizeOf(path) - tailBytes);
  // The rest of a secret that began before is not shown.
  const ahead = start === from ? 0 : 2 * longestBytes;
  const bytes = bytesSince(path, start);
  masker.push(bytes.subarray(0, ahead));
  return Buffer.concat([masker.push(bytes.subarray(ahead)), masker.end()]).toString('utf8');
}

function bytesSince(path: string, start: number): Buffer {
  const size = sizeOf(path);
  if (size <= start) return Buffer.alloc(0);
  const bytes = Buffer.alloc(Math.min(size - start, tailBytes));
  const descriptor = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, start));
  } finally {
    closeSync(descriptor);
  }
}

/** A sandbox has ended with all its processes; without one they are found by their uid, or by their log files. */
export async function endRest({ order, spool, tree }: AttemptContext): Promise<void> {
  const { slotUid, isolation } = order;
  if (isolation.bubblewrap !== null) return;
  if (slotUid === null) {
    for (const pid of processesWriting(spool.steps)) signalQuietly(pid, 'SIGKILL');
    return;
  }
  // Otherwise the reader would be one of them.
  await tree.detachedDuring(() => endProcessesOf(slotUid));
}
