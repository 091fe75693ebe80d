/**
 * The one place that starts git, tools, hooks and tasks. Each child
 *  - gets exactly the specified environment, folder and arguments, never a shell;
 *  - runs under the slot's uid where there is one, and cannot gain privileges;
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
/** Of coreutils: with 0 it only starts a program, waits, and exits as that one did. */
const waitingProgram = 'timeout';

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
  /** File that standard output goes to instead; overwritten. */
  readonly captureTo?: string;
  /** File that standard input comes from; absent: nothing. */
  readonly inputFrom?: string;
  /** Called with the new child; `hasChannel` makes descriptor 3 a socket between it and the runner. */
  readonly onStart?: (child: ChildProcess) => void;
  readonly hasChannel?: boolean;
  /** Runs in this sandbox of this bubblewrap; not together with a uid or a channel. */
  readonly sandbox?: { readonly bubblewrap: string; readonly places: Sandbox };
  /**
   * Which processes the interrupt goes to: the program alone (absent), or also the processes that it has
   * started and not detached.
   */
  readonly interrupts?: 'all';
  /**
   * A second interrupt would lose what the command has created: one more process makes sure that the end of
   * the runner sends only one.
   */
  readonly isInterruptedOnce?: boolean;
  readonly stop: StopWatch;
  /** From the interrupt to the kill. */
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
 * The tool with the programs between it and the runner. Linux reports a parent's death once for each of its
 * threads, and a tool that is interrupted twice ends without writing its state: therefore the runner's end
 * kills a single-threaded process, whose end interrupts the tool.
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

/** The program between runner and tool; bubblewrap already is one. */
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

/** The pid of the tool itself, which is not the child's; waits until it is known. */
async function toolPid(child: ChildProcess, request: ExecRequest): Promise<number | undefined> {
  if (request.sandbox === undefined) return waiterFor(request) === null ? child.pid : childOf(child);
  let told = '';
  for await (const chunk of (child.stdio[pidDescriptor] as Readable).setEncoding('utf8'))
    told += chunk as string;
  return Number(/"child-pid":\s*(\d+)/.exec(told)?.[1]) || undefined;
}

/** The one process that a child has started, as soon as it has; undefined if the child ended first. */
async function childOf(child: ChildProcess): Promise<number | undefined> {
  while (child.exitCode === null && child.signalCode === null) {
    const found = processesWhere(({ parent }) => parent === child.pid)[0];
    if (found !== undefined) return found;
    await delay(childPollMilliseconds);
  }
  return undefined;
}

/**
 * One interrupt to the tool's own pid; after the abort time, or immediately if requested, a kill to its
 * group.
 */
function endOnStop(child: ChildProcess, request: ExecRequest): { reason(): StopReason | null; done(): void } {
  let stop: StopReason | null = null;
  let timer: NodeJS.Timeout | undefined;
  // Only a sandbox reports it, and its report must be awaited.
  const told = request.sandbox === undefined ? undefined : toolPid(child, request).catch(() => undefined);
  const kill = () => child.pid !== undefined && signalQuietly(-child.pid, 'SIGKILL');
  const silence = request.stop.onStop((reason) => {
    const isFirst = stop === null;
    stop = reason;
    if (reason.how === 'now') kill();
    else if (isFirst && child.pid !== undefined) {
      const first = child.pid;
      void (told ?? toolPid(child, request)).then((tool) => {
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
      silence();
      clearTimeout(timer);
    },
  };
}

/** Processes of a group. */
function membersOf(group: number): number[] {
  return processesWhere((process) => process.group === group);
}

function processesWhere(matches: (process: { parent: number; group: number }) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // After the name, which may contain anything but ends with the last bracket: state, parent, group.
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
      ? 'its environment is too large: the environment variables (type 0) of one run may have about 2 MB in total'
      : error.message;
  return new RunFailure(`${request.program} could not be started: ${reason}`, {
    result: 'failed',
    failedCommand: request.program,
  });
}
