/** The processes of a running service, as an administrator of the machine sees them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../runs.ts';
import type { RunningService } from '../service.ts';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

async function text(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/** All processes of the machine. */
export async function allProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (name): Promise<Process[]> => {
      const stat = await text(`/proc/${name}/stat`);
      if (stat === '') return [];
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = (await text(`/proc/${name}/cmdline`)).replaceAll('\0', ' ');
      return [{ pid: Number(name), parent: Number(parent), state, command }];
    }),
  );
  return found.flat();
}

/** All that a process started, and what those started. */
export async function descendantsOf(pid: number): Promise<Process[]> {
  const all = await allProcesses();
  const below = (parent: number): Process[] =>
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
        command.includes('agent/src/main.ts'),
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

/** The attempts of which the agent still has a folder. */
export async function spooledAttempts({ folder }: Pick<RunningService, 'folder'>): Promise<SpooledAttempt[]> {
  const attempts = join(folder, 'data', 'spool', 'attempts');
  const found = await Promise.all(
    (await readdir(attempts)).map(async (name): Promise<SpooledAttempt[]> => {
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
    // What the runner started only waits for the command, or watches over it.
    const inside = (await descendantsOf(runner)).filter(({ command }) => pattern.test(command));
    return inside.findLast(({ pid }) => !inside.some(({ parent }) => parent === pid))?.pid;
  });
}

/** Stops all processes, so that none sees another one end, and kills them. */
export async function killAll(pid: number): Promise<void> {
  const seen = new Set<number>();
  for (;;) {
    const all = [pid, ...(await descendantsOf(pid)).map((each) => each.pid)].filter((one) => !seen.has(one));
    if (all.length === 0) break;
    for (const one of all) {
      seen.add(one);
      sendSignal(one, 'SIGSTOP');
    }
  }
  for (const one of seen) sendSignal(one, 'SIGKILL');
}
