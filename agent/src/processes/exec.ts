/**
 * The only place that starts git, tools, hooks and tasks. Each child
 *  - gets exactly the specified environment, folder and arguments, never a shell;
 *  - runs under the slot's uid, if there is one, and cannot gain privileges;
 *  - leads its own session and process group, which is killed once it has ended;
 *  - is interrupted when this process dies, so that no tool outlives its runner;
 *  - writes to files only: a tool whose reader dies is ended by SIGPIPE and loses track of what it created.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { RunFailure } from './failure.ts';
import { findProgram } from './programs.ts';
import { pidDescriptor, type Sandbox, sandboxed } from './sandbox.ts';
import type { StopReason, StopWatch } from './stop-watch.ts';

const childPollMilliseconds = 5;
/** From coreutils; with 0 it only starts a program, waits for it, and exits with its status. */
const waitingProgram = 'timeout';

export interface ExecRequest {
  /** Absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The uid and gid to run under; null: the runner's own. */
  readonly uid: number | null;
  /** Standard output and standard error are appended to this file. */
  readonly log: string;
  /** Standard output goes to this file instead; overwritten. */
  readonly captureTo?: string;
  /** The file for standard input; default: none. */
  readonly inputFrom?: string;
  /** Called with the new child. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Makes descriptor 3 a socket between the child and the runner. */
  readonly hasChannel?: boolean;
  /** The sandbox to run in; cannot be combined with a uid or a channel. */
  readonly sandbox?: { readonly bubblewrap: string; readonly places: Sandbox };
  /**
   * `all` also interrupts the processes that the program has started and not detached; default: only the
   * program.
   */
  readonly interrupts?: 'all';
  /**
   * A second interrupt would lose what the command has created: an intermediate process ensures that the end
   * of the runner sends only one.
   */
  readonly isInterruptedOnce?: boolean;
  readonly stop: StopWatch;
  /** Time between the interrupt and the kill. */
  readonly abortSeconds: number;
}

export interface ExecResult {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly milliseconds: number;
  /** Why it was stopped from outside; null if it ended on its own. */
  readonly stop: StopReason | null;
}

/**
 * Runs one command to its end.
 * @throws RunFailure when the run is already stopping, or when the command cannot be started
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
    return {
      ...unwrapped(end, request),
      milliseconds: Math.round(performance.now() - startedAt),
      stop: ending.reason(),
    };
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
    const stdio: StdioOptions = [
      input,
      output,
      log,
      ...(request.hasChannel || request.sandbox ? (['pipe'] as const) : []),
    ];
    const [program, args] = wrapped(request);
    // The uid changes between fork and exec, so that nothing from the user's environment (LD_PRELOAD) is
    // loaded with the agent's rights.
    const identity = request.uid === null ? {} : { uid: request.uid, gid: request.uid };
    return spawn(program, args, {
      ...identity,
      stdio,
      cwd: request.cwd,
      env: { ...request.environment },
      detached: true,
    });
  } catch (error) {
    throw cannotStart(request, error as NodeJS.ErrnoException);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/**
 * Wraps the tool in the programs between it and the runner. Linux reports a parent's death once for each of
 * its threads, and a tool that is interrupted twice ends without writing its state. The runner's end
 * therefore kills a single-threaded process, whose end interrupts the tool.
 */
function wrapped(request: ExecRequest): [string, string[]] {
  const command = [request.program, ...request.args];
  if (request.sandbox !== undefined) {
    const [program, args] = withDeathSignal(request, 'INT', command);
    const confined = sandboxed(request.sandbox.bubblewrap, request.sandbox.places, request.cwd, [
      program,
      ...args,
    ]);
    return withDeathSignal(request, 'INT', confined.flat());
  }
  const [program, args] = withDeathSignal(request, 'INT', command);
  const waiter = waiterFor(request);
  if (waiter === null) return [program, args];
  return withDeathSignal(request, 'KILL', [waiter, '--foreground', '0', program, ...args]);
}

/** The program between runner and tool; in a sandbox, bubblewrap already is one. */
function waiterFor({ isInterruptedOnce, sandbox }: ExecRequest): string | null {
  return isInterruptedOnce === true && sandbox === undefined ? findProgram(waitingProgram) : null;
}

function withDeathSignal(
  request: ExecRequest,
  signal: 'INT' | 'KILL',
  command: readonly string[],
): [string, string[]] {
  const setpriv = findProgram('setpriv');
  const [program = '', ...args] = command;
  if (setpriv === null) {
    if (request.uid !== null)
      throw new RunFailure(
        'setpriv is not installed on the agent: install it (package "util-linux"), then deploy again',
      );
    return [program, args];
  }
  return [setpriv, ['--no-new-privs', '--pdeathsig', signal, '--', program, ...args]];
}

// Bubblewrap returns a signal's number as its own exit code.
function unwrapped(
  end: Pick<ExecResult, 'exitCode' | 'signal'>,
  request: ExecRequest,
): Pick<ExecResult, 'exitCode' | 'signal'> {
  const number = request.sandbox === undefined ? 0 : (end.exitCode ?? 0) - 128;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? end : { exitCode: null, signal: signal as NodeJS.Signals };
}

/** The pid of the tool itself, which may differ from the child's; waits until it is known. */
async function toolPid(child: ChildProcess, request: ExecRequest): Promise<number | undefined> {
  if (request.sandbox === undefined) return waiterFor(request) === null ? child.pid : childOf(child);
  let info = '';
  for await (const chunk of (child.stdio[pidDescriptor] as Readable).setEncoding('utf8'))
    info += chunk as string;
  return Number(/"child-pid":\s*(\d+)/.exec(info)?.[1]) || undefined;
}

/** Waits for the one process that a child starts; undefined if the child ends first. */
async function childOf(child: ChildProcess): Promise<number | undefined> {
  while (child.exitCode === null && child.signalCode === null) {
    const found = processesWhere(({ parent }) => parent === child.pid)[0];
    if (found !== undefined) return found;
    await delay(childPollMilliseconds);
  }
  return undefined;
}

/** Interrupts the tool once; kills its group after the abort time, or immediately if requested. */
function endOnStop(child: ChildProcess, request: ExecRequest): { reason(): StopReason | null; done(): void } {
  let stop: StopReason | null = null;
  let timer: NodeJS.Timeout | undefined;
  // A sandbox reports the pid only once, so reading starts immediately.
  const reported = request.sandbox === undefined ? undefined : toolPid(child, request).catch(() => undefined);
  const kill = () => child.pid !== undefined && signalQuietly(-child.pid, 'SIGKILL');
  const unsubscribe = request.stop.onStop((reason) => {
    const isFirst = stop === null;
    stop = reason;
    if (reason.how === 'now') kill();
    else if (isFirst && child.pid !== undefined) {
      const first = child.pid;
      void (reported ?? toolPid(child, request)).then((tool) => {
        if (tool === undefined) return;
        // Killing bubblewrap's own process would kill everything in it.
        const others =
          request.interrupts === 'all' ? membersOf(first).filter((member) => member !== first) : [];
        for (const each of new Set([tool, ...others])) signalQuietly(each, 'SIGINT');
      });
      timer = setTimeout(kill, request.abortSeconds * 1000);
    }
  });
  return {
    reason: () => stop,
    done: () => {
      unsubscribe();
      clearTimeout(timer);
    },
  };
}

/** The pids of a process group. */
function membersOf(group: number): number[] {
  return processesWhere((process) => process.group === group);
}

function processesWhere(matches: (process: { parent: number; group: number }) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // State, parent and group follow the name, which may contain anything and ends with the last bracket.
        const [, parent, group] =
          /\) \S (\d+) (\d+) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        return matches({ parent: Number(parent), group: Number(group) });
      } catch {
        return false;
      }
    });
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

function cannotStart(request: ExecRequest, error: NodeJS.ErrnoException): Error {
  if (error instanceof RunFailure) return error;
  const reason =
    error.code === 'E2BIG'
      ? 'its environment is too large: the environment variables (type 0) of a run are limited to about 2 MB in total'
      : error.message;
  return new RunFailure(`${request.program} could not be started: ${reason}`, {
    result: 'failed',
    failedCommand: request.program,
  });
}
