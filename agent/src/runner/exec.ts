/**
 * The one place that starts git, tools, hooks and tasks. Each child
 *  - gets exactly the environment, folder and arguments that are given, never a shell;
 *  - runs under the slot's uid where there is one, without a way to new privileges;
 *  - leads a session and process group of its own; its group is killed once it has ended;
 *  - is interrupted when this process dies, so that no tool outlives its runner;
 *  - writes to files only: a tool whose reader dies is ended by SIGPIPE and forgets what it created.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { RunFailure } from './failure.ts';
import { findProgram } from './programs.ts';
import type { StopReason, StopWatch } from './stop.ts';

export interface ExecRequest {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs under this uid and gid; null: under the runner's own. */
  readonly uid: number | null;
  /** File that standard output and standard error are appended to. */
  readonly log: string;
  /** File that standard output goes to instead, made anew. */
  readonly captureTo?: string;
  /** File that standard input comes from; absent: nothing. */
  readonly inputFrom?: string;
  /** Called with the fresh child; `hasChannel` makes descriptor 3 a socket between it and the runner. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly hasChannel?: boolean;
  readonly stop: StopWatch;
  /** From the interrupt to the kill. */
  readonly abortSeconds: number;
}

export interface ExecResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
  /** Why it was stopped from outside, null where it ended by itself. */
  readonly stop: StopReason | null;
}

/**
 * Runs one command to its end.
 * @throws RunFailure when the run is to stop already, or when the command cannot be started
 */
export async function execute(request: ExecRequest): Promise<ExecResult> {
  request.stop.throwIfStopped();
  const startedAt = performance.now();
  const child = start(request);
  const ended = new Promise<Pick<ExecResult, 'exitCode' | 'signal'>>((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(request, error)));
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const ending = endOnStop(child, request);
  try {
    if (child.pid !== undefined) request.onStart?.(child);
    const end = await ended;
    return { ...end, milliseconds: Math.round(performance.now() - startedAt), stop: ending.reason() };
  } finally {
    ending.done();
    if (child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL');
  }
}

function start(request: ExecRequest): ChildProcess {
  const open: number[] = [];
  const opened = (path: string, flags: string) => {
    const descriptor = openSync(path, flags, 0o600);
    open.push(descriptor);
    return descriptor;
  };
  try {
    const log = opened(request.log, 'a');
    const input = request.inputFrom === undefined ? 'ignore' : opened(request.inputFrom, 'r');
    const output = request.captureTo === undefined ? log : opened(request.captureTo, 'w');
    const stdio: StdioOptions = [input, output, log, ...(request.hasChannel ? (['pipe'] as const) : [])];
    const [program, args] = wrapped(request);
    // The uid changes between fork and exec: nothing that the user's environment names (LD_PRELOAD) is ever loaded with the agent's rights.
    const identity = request.uid === null ? {} : { uid: request.uid, gid: request.uid };
    return spawn(program, args, { ...identity, stdio, cwd: request.cwd, env: { ...request.environment }, detached: true });
  } catch (error) {
    throw cannotStart(request, error as NodeJS.ErrnoException);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

function wrapped(request: ExecRequest): [string, string[]] {
  const setpriv = findProgram('setpriv');
  if (setpriv === null) {
    if (request.uid !== null)
      throw new RunFailure('setpriv is not installed on the agent: install it (package "util-linux"), then deploy again');
    return [request.program, [...request.args]];
  }
  return [setpriv, ['--no-new-privs', '--pdeathsig', 'INT', '--', request.program, ...request.args]];
}

/** One interrupt to the tool's own pid; after the abort time, or at once where that was asked, a kill to its group. */
function endOnStop(child: ChildProcess, request: ExecRequest): { reason(): StopReason | null; done(): void } {
  let stop: StopReason | null = null;
  let timer: NodeJS.Timeout | undefined;
  const kill = () => child.pid !== undefined && signalQuietly(-child.pid, 'SIGKILL');
  const silence = request.stop.onStop((reason) => {
    const isFirst = stop === null;
    stop = reason;
    if (reason.how === 'now') kill();
    else if (isFirst && child.pid !== undefined) {
      signalQuietly(child.pid, 'SIGINT');
      timer = setTimeout(kill, request.abortSeconds * 1000);
    }
  });
  return {
    reason: () => stop,
    done: () => {
      silence();
      clearTimeout(timer);
    },
  };
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

function cannotStart(request: ExecRequest, error: NodeJS.ErrnoException): Error {
  if (error instanceof RunFailure) return error;
  const reason =
    error.code === 'E2BIG'
      ? 'its environment is too large: the environment variables (type 0) of one run may hold about 2 MB in all'
      : error.message;
  return new RunFailure(`${request.program} could not be started: ${reason}`, { result: 'failed', failedCommand: request.program });
}
