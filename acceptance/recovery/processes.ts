/** The processes of a running service, as an administrator of the machine sees them. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { until } from '../runs.ts';
import type { RunningService } from '../service.ts';

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

/** The file name of a process's program, wherever that is installed. */
export function programOf({ command }: Pick<ProcessRow, 'command'>): string {
  return basename(command.split(' ', 1)[0] ?? '');
}

async function text(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/** All processes of the machine. */
export async function allProcesses(): Promise<ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (name): Promise<ProcessRow[]> => {
      const stat = await text(`/proc/${name}/stat`);
      if (stat === '') return [];
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = (await text(`/proc/${name}/cmdline`)).replaceAll('\0', ' ');
      return [{ pid: Number(name), parent: Number(parent), state, command }];
    }),
  );
  return found.flat();
}

/** All processes that were started for a folder, wherever they hang in the tree, and what those started. */
export async function processesOf(folder: string): Promise<ProcessRow[]> {
  const all = await allProcesses();
  const own = await Promise.all(
    all.map(async ({ pid, command }) => {
      if (pid === process.pid) return false;
      return command.includes(folder) || (await text(`/proc/${pid}/environ`)).includes(folder);
    }),
  );
  const found = new Set(all.filter((_, at) => own[at]));
  for (const each of found) for (const child of all) if (child.parent === each.pid) found.add(child);
  return [...found];
}

/** All that a process started, and what those started. */
export async function descendantsOf(pid: number): Promise<ProcessRow[]> {
  const all = await allProcesses();
  const below = (parent: number): ProcessRow[] =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  return below(pid);
}

export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The built-in agent. */
export function agentPid(service: RunningService): Promise<number> {
  return until(
    'the agent',
    async () =>
      (await descendantsOf(service.process.pid ?? 0)).find(({ command }) =>
        // From the sources, or from a bundle.
        /agent(\/src\/main\.ts|\.mjs)/.test(command),
      )?.pid,
  );
}

/** The embedded database's first process. */
export async function databasePid({ folder }: Pick<RunningService, 'folder'>): Promise<number> {
  const file = join(folder, 'data', 'postgresql', 'data', 'postmaster.pid');
  return Number((await text(file)).split('\n')[0]);
}

/** An attempt whose folder is in the spool. */
export interface SpooledAttempt {
  readonly environmentId: string;
  readonly phase: string;
  readonly runnerPid: number | null;
  readonly hasOutcome: boolean;
}

/** The attempts of which the built-in agent still has a folder. */
export function spooledAttempts({ folder }: Pick<RunningService, 'folder'>): Promise<SpooledAttempt[]> {
  return attemptsIn(join(folder, 'data', 'spool'));
}

/** The attempts in the spool folder of an agent. */
export async function attemptsIn(spool: string): Promise<SpooledAttempt[]> {
  const attempts = join(spool, 'attempts');
  const found = await Promise.all(
    (await readdir(attempts).catch(() => [])).map(async (name): Promise<SpooledAttempt[]> => {
      const job = await text(join(attempts, name, 'job.json'));
      if (job === '') return [];
      const { environmentId, phase } = JSON.parse(job) as { environmentId: string; phase: string };
      const runner = await text(join(attempts, name, 'runner.json'));
      return [
        {
          environmentId,
          phase,
          runnerPid: runner === '' ? null : (JSON.parse(runner) as { pid: number }).pid,
          hasOutcome: (await text(join(attempts, name, 'outcome.json'))) !== '',
        },
      ];
    }),
  );
  return found.flat();
}

/** The runner of an environment's attempt that has no outcome yet. */
export function runnerPid(service: RunningService, environmentId: string): Promise<number> {
  return until('the runner', async () =>
    (await spooledAttempts(service))
      .filter((each) => each.environmentId === environmentId && !each.hasOutcome)
      .map((each) => each.runnerPid)
      .find((pid) => pid !== null),
  );
}

/**
 * The command that runs in an environment's attempt.
 * @param pattern of its command line
 */
export async function commandPid(
  service: RunningService,
  environmentId: string,
  pattern: RegExp,
): Promise<number> {
  const runner = await runnerPid(service, environmentId);
  return until(`a command like ${pattern}`, async () => {
    // Processes of the runner that only wait for the command, or watch over it.
    const inside = (await descendantsOf(runner)).filter(({ command }) => pattern.test(command));
    return inside.findLast(({ pid }) => !inside.some(({ parent }) => parent === pid))?.pid;
  });
}

/** Stops a process and all that it started, so that none sees another one end, and kills them. */
export function killAll(pid: number): Promise<void> {
  return killTogether(async () => [pid, ...(await descendantsOf(pid)).map((each) => each.pid)]);
}

/** The same for all processes that can be found, again and again until there are no others. */
export async function killTogether(find: () => Promise<number[]>): Promise<void> {
  const seen = new Set<number>();
  for (;;) {
    const all = (await find()).filter((one) => !seen.has(one));
    if (all.length === 0) break;
    for (const one of all) {
      seen.add(one);
      sendSignal(one, 'SIGSTOP');
    }
  }
  for (const one of seen) sendSignal(one, 'SIGKILL');
}

/** A command line in which the kernel seems to have booted again; empty unless root: no one else can. */
export async function anotherBoot(folder: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const id = randomUUID();
  const file = join(folder, `boot-${id}`);
  await writeFile(file, `${id}\n`, { mode: 0o644 });
  const script = `mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', script, file];
}
