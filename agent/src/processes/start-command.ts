/** Starts a command, with the programs between it and its runner, which pass on the runner's end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { ExecRequest } from './exec-request.ts';
import { RunFailure } from './failure.ts';
import { findProgram } from './programs.ts';
import { arePassedOn, limitOptions } from './run-limits.ts';
import { checkArguments, type SandboxedCommand, spawnInSandbox } from './spawn-in-sandbox.ts';

/** @throws RunFailure if it cannot be started; the child may fail to start later, too */
export function startCommand(request: ExecRequest): ChildProcess {
  const open: number[] = [];
  const opened = (path: string, flags: string) => {
    const descriptor = openSync(path, flags, 0o600);
    open.push(descriptor);
    return descriptor;
  };
  try {
    checkArguments([request.program, ...request.args], request.environment);
    const log = opened(request.log, 'a');
    const input = request.inputFrom === undefined ? 'ignore' : opened(request.inputFrom, 'r');
    const output = request.captureTo === undefined ? log : opened(request.captureTo, 'w');
    const stdio = [input, output, log, request.hasChannel === true ? 'pipe' : 'ignore'] as const;
    // The uid changes between fork and exec, so that nothing from the user's environment (LD_PRELOAD) is
    // loaded with the agent's rights.
    const identity = request.uid === null ? {} : { uid: request.uid, gid: request.uid };
    if (request.sandbox !== undefined)
      return startInSandbox(request, request.sandbox, { stdio, ...identity });
    const [program, args] = wrapped(request);
    return spawn(program, args, {
      ...identity,
      stdio: [...stdio],
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

function startInSandbox(
  request: ExecRequest,
  { isolation, places }: NonNullable<ExecRequest['sandbox']>,
  options: Pick<SandboxedCommand, 'stdio' | 'uid' | 'gid'>,
): ChildProcess {
  const { cwd, environment } = request;
  expectSize(environment);
  const { inner, around } = wrappedInSandbox(request);
  return spawnInSandbox({
    ...options,
    isolation,
    sandbox: places,
    command: inner,
    cwd,
    environment,
    withParent: request.isDisposable === true ? 'killed' : 'signalled',
    ...(around === undefined ? {} : { around }),
  });
}

/** The failure of a command that could not be started. */
export function cannotStart(request: ExecRequest, error: NodeJS.ErrnoException): Error {
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

/** Of coreutils: with 0 it only starts a program, waits, and exits as that one did. */
const waitingProgram = 'timeout';
/** Linux refuses longer strings, and an environment that is larger in total. */
const largest = { stringBytes: 131_071, environmentBytes: 2_000_000 } as const;

/**
 * The tool with the programs between it and the runner. Linux reports a parent's death once for each of its
 * threads, and a tool that is interrupted twice ends without writing its state: therefore the runner's end
 * kills a single-threaded process, whose end interrupts the tool.
 */
function wrapped(request: ExecRequest): [string, string[]] {
  const command = limited(request);
  const [program, args] = withDeathSignal(request, 'INT', command);
  const waiter = waiterFor(request);
  if (waiter === null) return [program, args];
  return withDeathSignal(request, 'KILL', [waiter, '--foreground', '0', program, ...args]);
}

/** The same around and inside of a sandbox, whose outer process is the one between runner and tool. */
function wrappedInSandbox(request: ExecRequest): {
  readonly inner: readonly string[];
  readonly around?: (bubblewrap: readonly string[]) => readonly string[];
} {
  const command = limited(request);
  if (request.isDisposable === true) return { inner: command };
  const interrupted = (one: readonly string[]) => withDeathSignal(request, 'INT', one).flat();
  return { inner: interrupted(command), around: interrupted };
}

/** The command under its limits, which it can only lower. */
function limited({ limits, program, args, uid, sandbox }: ExecRequest): string[] {
  if (limits === undefined || (uid !== null && arePassedOn(limits))) return [program, ...args];
  const prlimit = findProgram('prlimit');
  if (prlimit === null) return [program, ...args];
  const ownsUid = uid !== null || sandbox !== undefined;
  return [prlimit, ...limitOptions(limits, ownsUid), '--', program, ...args];
}

/** Bubblewrap would only say that the list is too long. */
function expectSize(environment: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(environment).map(([name, value]) => Buffer.byteLength(`${name}=${value}`));
  const isTooLarge =
    sizes.some((size) => size > largest.stringBytes) ||
    sizes.reduce((total, size) => total + size + 1, 0) > largest.environmentBytes;
  if (isTooLarge) throw Object.assign(new Error('the environment is too large'), { code: 'E2BIG' });
}

/** The program between runner and tool; bubblewrap already is one. */
export function waiterFor({ isInterruptedOnce, sandbox }: ExecRequest): string | null {
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
