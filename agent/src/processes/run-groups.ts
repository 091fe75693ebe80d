/**
 * Control groups of runs (cgroup v2), below a folder that is delegated to the agent: one for each runner, which
 * contains everything that the runner starts. The kernel ends a whole group by one write, however many processes
 * it has and whatever they do.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, statfsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identifyProcess, namesIn, type ProcessIdentity, textOrEmpty } from './proc.ts';
import { findProgram } from './programs.ts';
import type { RunLimits } from './run-limits.ts';

/** Of statfs, for cgroup v2. */
const cgroup2Type = 0x63_67_72_70;
const defaultDeadlineMilliseconds = 10_000;
const pollMilliseconds = 2;
/** The runner and its helpers are in the group, too: threads, and bytes. */
const allowance = { tasks: 128, bytes: 512 * 1024 * 1024 } as const;

const limitFiles = {
  pids: { file: 'pids.max', value: (limits: RunLimits) => limits.processes + allowance.tasks },
  memory: { file: 'memory.max', value: (limits: RunLimits) => limits.memoryBytes + allowance.bytes },
} as const;
type Controller = keyof typeof limitFiles;

export interface RunGroupsRequest {
  /** Absolute path of the delegated folder. */
  readonly folder: string;
  /** Groups of agents with other spools are left alone. */
  readonly spoolId: string;
  readonly limits: RunLimits;
  /** Maximum time in which killed processes end. */
  readonly deadlineMilliseconds?: number;
}

export interface RunGroups {
  /** The controllers that enforce limits of a group; without them, groups only end runs. */
  readonly controllers: readonly Controller[];
  /** Creates a group with this process in it. Moving one takes the kernel up to 20 ms. */
  place(runner: ProcessIdentity): Promise<void>;
  /** The pids in the group of a runner. */
  members(runner: ProcessIdentity): number[];
  /**
   * Kills all processes of a runner's group, waits until they have ended, and removes the group.
   * @throws an Error that names the remaining processes
   */
  end(runner: ProcessIdentity): Promise<void>;
  /** Removes the group of a runner if nothing is left in it. */
  removeIfEmpty(runner: ProcessIdentity): void;
  /** Ends all groups of this spool except those of some runners. */
  endOthers(toKeep: readonly ProcessIdentity[]): Promise<void>;
}

/**
 * Tries the folder with a process, as runs would use it.
 * @throws an Error that says why the folder cannot be used
 */
export async function openRunGroups(request: RunGroupsRequest): Promise<RunGroups> {
  const { folder } = request;
  if (!existsSync(folder)) throw new Error(`${folder} does not exist`);
  if (statfsSync(folder).type !== cgroup2Type) throw new Error(`${folder} is not a cgroup v2 folder`);
  const groups = createRunGroups(request, enableControllers(folder));
  await tryGroup(groups);
  return groups;
}

/** A group can only have limits where the folder above it has no processes itself. */
function enableControllers(folder: string): Controller[] {
  const enabled = join(folder, 'cgroup.subtree_control');
  for (const name of Object.keys(limitFiles).filter((one) => wordsOf(folder, 'cgroup.controllers').has(one)))
    try {
      writeFileSync(enabled, `+${name}`);
    } catch {
      // Groups end runs all the same.
    }
  const found = wordsOf(folder, 'cgroup.subtree_control');
  return (Object.keys(limitFiles) as Controller[]).filter((name) => found.has(name));
}

function wordsOf(folder: string, file: string): Set<string> {
  return new Set(textOrEmpty(join(folder, file)).trim().split(/\s+/));
}

async function tryGroup(groups: RunGroups): Promise<void> {
  const program = findProgram('sleep');
  if (program === null) throw new Error('the program "sleep" is not installed (package "coreutils")');
  const child = spawn(program, ['60'], { cwd: '/', env: {}, stdio: 'ignore' });
  child.on('error', () => {});
  try {
    const identity = child.pid === undefined ? null : identifyProcess(child.pid);
    if (identity === null) throw new Error(`${program} cannot be started`);
    await groups.place(identity);
    await groups.end(identity);
  } finally {
    child.kill('SIGKILL');
  }
}

/** The groups below a folder that has been tried. */
export function createRunGroups(request: RunGroupsRequest, controllers: readonly Controller[]): RunGroups {
  const { folder, spoolId, limits, deadlineMilliseconds = defaultDeadlineMilliseconds } = request;
  const prefix = `envarium-${spoolId}-`;
  const nameOf = ({ pid, startTicks }: ProcessIdentity) => `${prefix}${pid}-${startTicks}`;
  const groupOf = (runner: ProcessIdentity) => join(folder, nameOf(runner));
  return {
    controllers,
    async place(runner) {
      const group = groupOf(runner);
      mkdirSync(group);
      for (const { file, value } of controllers.map((name) => limitFiles[name]))
        writeFileSync(join(group, file), String(value(limits)));
      await writeFile(join(group, 'cgroup.procs'), String(runner.pid));
    },
    members: (runner) => membersOf(groupOf(runner)),
    end: (runner) => endGroup(groupOf(runner), deadlineMilliseconds),
    removeIfEmpty(runner) {
      try {
        removeGroup(groupOf(runner));
      } catch {
        // The end of its attempt, or the next start of the agent, reports it.
      }
    },
    async endOthers(toKeep) {
      const names = new Set(toKeep.map(nameOf));
      const others = readdirSync(folder).filter((name) => name.startsWith(prefix) && !names.has(name));
      await Promise.all(others.map((name) => endGroup(join(folder, name), deadlineMilliseconds)));
    },
  };
}

async function endGroup(group: string, deadlineMilliseconds: number): Promise<void> {
  const deadline = performance.now() + deadlineMilliseconds;
  while (!removeGroup(group)) {
    if (performance.now() > deadline)
      throw new Error(
        `processes ${membersOf(group).join(', ')} of the control group ${group} do not end: they may be waiting for a device or a network file system`,
      );
    await writeFile(join(group, 'cgroup.kill'), '1').catch((error: NodeJS.ErrnoException) => {
      // Its last process has ended in the meantime, and another process has removed it, before or after it was
      // opened.
      if (error.code !== 'ENOENT' && error.code !== 'ENODEV') throw error;
    });
    await delay(pollMilliseconds);
  }
}

/** @returns false if it still has processes */
function removeGroup(group: string): boolean {
  for (const inner of innerGroups(group)) removeGroup(inner);
  try {
    rmdirSync(group);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EBUSY') return false;
    if (code !== 'ENOENT') throw error;
  }
  return true;
}

/** Runs that may write to their own group can divide it. */
function innerGroups(group: string): string[] {
  return namesIn(group)
    .map((name) => join(group, name))
    .filter((path) => existsSync(join(path, 'cgroup.procs')));
}

function membersOf(group: string): number[] {
  const own = textOrEmpty(join(group, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
  return [...own, ...innerGroups(group).flatMap(membersOf)];
}
