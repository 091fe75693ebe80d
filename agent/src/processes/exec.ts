/**
 * The only place that starts git, tools, hooks and tasks. Each child
 *  - gets exactly the specified environment, folder and arguments, never a shell;
 *  - runs under the slot's uid, if there is one, and cannot gain privileges;
 *  - leads its own session and process group, which is killed once it has ended;
 *  - is interrupted when this process dies, so that no tool outlives its runner;
 *  - writes to files only: a tool whose reader dies is ended by SIGPIPE and loses track of what it created.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import type { ExecRequest, ExecResult } from './exec-request.ts';
import { RunFailure } from './failure.ts';
import { killProcess, signalQuietly } from './proc.ts';
import { type SandboxedCommand, spawnInSandbox } from './spawn-in-sandbox.ts';
import { endOnStop, firstInside } from './stop-command.ts';
import { checkArguments, expectSize, wrapped, wrappedInSandbox } from './wrap-command.ts';

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
  const inside = request.sandbox === undefined ? null : firstInside(child);
  const ending = endOnStop(child, request, inside);
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
    // Only where bubblewrap's own process was ended from outside is it still there.
    const first = await inside;
    if (first) killProcess(first);
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

// Bubblewrap returns a signal's number as its own exit code.
function unwrapped(
  end: Pick<ExecResult, 'exitCode' | 'signal'>,
  request: ExecRequest,
): Pick<ExecResult, 'exitCode' | 'signal'> {
  const number = request.sandbox === undefined ? 0 : (end.exitCode ?? 0) - 128;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? end : { exitCode: null, signal: signal as NodeJS.Signals };
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
