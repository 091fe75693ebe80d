/** Stops a command and finds the processes that a signal has to reach. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from '../spool/layout.ts';
import type { ExecRequest } from './exec-request.ts';
import { identifyProcess, killProcess, pidsWhere, signalQuietly, statOf, withDescendants } from './proc.ts';
import { pidInside } from './spawn-in-sandbox.ts';
import type { StopReason } from './stop-reason.ts';
import { waiterFor } from './wrap-command.ts';

const childPollMilliseconds = 5;
const sandboxKillMilliseconds = 2_000;
/** Enough for the program to notice the first one, also on a busy machine: two that arrive at once are only one. */
export const secondInterruptMilliseconds = 1_000;

/** The first process of a sandbox, which is the tool itself; null where bubblewrap ended before. */
export async function firstInside(child: ChildProcess): Promise<ProcessIdentity | null> {
  return identifyProcess(await pidInside(child));
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

/** The one process that a child has started, as soon as it has; undefined if the child ended first. */
async function childOf(child: ChildProcess): Promise<number | undefined> {
  while (child.exitCode === null && child.signalCode === null) {
    const found = pidsWhere((pid) => statOf(pid)?.parent === child.pid)[0];
    if (found !== undefined) return found;
    await delay(childPollMilliseconds);
  }
  return undefined;
}

/**
 * One interrupt to the tool's own pid; after the abort time, or immediately if requested, a kill to its
 * group, or to the first process of its sandbox, with which everything in it ends.
 */
export function endOnStop(
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

/** Processes of a group. */
function membersOf(group: number): number[] {
  return pidsWhere((pid) => statOf(pid)?.group === group);
}
