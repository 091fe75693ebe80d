/**
 * The only place that starts git, tools, hooks and tasks. Each child
 *  - gets exactly the specified environment, folder and arguments, never a shell;
 *  - runs under the slot's uid, if there is one, and cannot gain privileges;
 *  - leads its own session and process group, which is killed once it has ended;
 *  - is interrupted when this process dies, so that no tool outlives its runner;
 *  - writes to files only: a tool whose reader dies is ended by SIGPIPE and loses track of what it created.
 */
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { ExecRequest, ExecResult } from './exec-request.ts';
import {
  childOf,
  killProcess,
  membersOf,
  type ProcessIdentity,
  signalQuietly,
  withDescendants,
} from './proc.ts';
import { firstInside } from './spawn-in-sandbox.ts';
import { cannotStart, startCommand, waiterFor } from './start-command.ts';
import type { StopReason } from './stop-reason.ts';

const sandboxKillMilliseconds = 2_000;
/** Enough for the program to notice the first one, also on a busy machine: two that arrive at once are only one. */
export const secondInterruptMilliseconds = 1_000;

/**
 * Runs one command to its end.
 * @throws RunFailure when the run is already stopping, or when the command cannot be started
 */
export async function execute(request: ExecRequest): Promise<ExecResult> {
  request.stop.throwIfStopped();
  const startedAt = performance.now();
  const child = startCommand(request);
  const ended = new Promise<Pick<ExecResult, 'exitCode' | 'signal'>>((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(request, error)));
    child.once('exit', (exitCode, signal) => resolve(unwrapped({ exitCode, signal }, request)));
  });
  const inside = request.sandbox === undefined ? null : firstInside(child);
  const ending = endOnStop(child, request, inside);
  try {
    if (child.pid !== undefined) request.onStart?.(child);
    return {
      ...(await ended),
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

// Bubblewrap returns a signal's number as its own exit code.
function unwrapped(
  end: Pick<ExecResult, 'exitCode' | 'signal'>,
  request: ExecRequest,
): Pick<ExecResult, 'exitCode' | 'signal'> {
  const number = request.sandbox === undefined ? 0 : (end.exitCode ?? 0) - 128;
  const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return signal === undefined ? end : { exitCode: null, signal: signal as NodeJS.Signals };
}

/** The pid of the tool itself, which is not always the child's; waits until it is known. */
async function toolPid(
  child: ChildProcess,
  request: ExecRequest,
  inside: Promise<ProcessIdentity | null> | null,
): Promise<number | undefined> {
  if (inside !== null) return (await inside)?.pid;
  return waiterFor(request) === null ? child.pid : childOf(child);
}

/**
 * One interrupt to the tool's own pid; after the abort time, or immediately if requested, a kill to its
 * group, or to the first process of its sandbox, with which everything in it ends.
 */
function endOnStop(
  child: ChildProcess,
  request: ExecRequest,
  inside: Promise<ProcessIdentity | null> | null,
): { reason(): StopReason | null; done(): void } {
  let stop: StopReason | null = null;
  let timer: NodeJS.Timeout | undefined;
  let killTimer: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  const killGroup = () => child.pid !== undefined && signalQuietly(-child.pid, 'SIGKILL');
  const kill = () => {
    if (inside === null) return killGroup();
    killTimer ??= setTimeout(killGroup, sandboxKillMilliseconds);
    return void inside.then((first) => {
      if (first === null) return killGroup();
      // The first process ends all others of its sandbox, but only once it gets processor time: behind a fork
      // bomb that takes seconds.
      for (const pid of withDescendants([first.pid])) signalQuietly(pid, 'SIGSTOP');
      killProcess(first);
    });
  };
  const silence = request.stop.onStop((reason) => {
    const isFirst = stop === null;
    stop = reason;
    if (reason.how === 'now') kill();
    else if (isFirst && child.pid !== undefined) {
      const leader = child.pid;
      void toolPid(child, request, inside).then((tool) => {
        if (tool === undefined) return;
        // Killing bubblewrap's own process would kill everything in it.
        const others =
          request.interrupts === 'all' ? membersOf(leader).filter((member) => member !== leader) : [];
        for (const each of new Set([tool, ...others])) signalQuietly(each, 'SIGINT');
        if (request.interrupts === 'twice')
          again = setTimeout(() => signalQuietly(tool, 'SIGINT'), secondInterruptMilliseconds);
      });
      timer = setTimeout(kill, request.abortSeconds * 1000);
    }
  });
  return {
    reason: () => stop,
    done: () => {
      silence();
      clearTimeout(timer);
      clearTimeout(again);
      clearTimeout(killTimer);
    },
  };
}
