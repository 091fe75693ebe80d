/**
 * Memory of all processes of an idle service: the proportional set size, which counts shared pages only
 * once.
 */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { findPostmaster } from './database.ts';
import { type Bench, type BenchResult, figure } from './figure.ts';
import { scratchFolder, startService } from './service.ts';

const programs = [
  ['warm runners', /agent\/src\/main\.ts\0(runner|tree-server)/],
  ['agent', /agent\/src\/main\.ts/],
  ['PostgreSQL', /postgres/],
  ['server', /server\/src\/main\.ts/],
] as const;
type Program = (typeof programs)[number][0];

interface Process {
  readonly pid: number;
  readonly parent: number;
}

async function readProcess(pid: number): Promise<Process> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return { pid, parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) };
}

/** These processes and everything below them. */
async function family(roots: readonly number[]): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const processes = (await Promise.all(pids.map((pid) => readProcess(pid).catch(() => null)))).filter(
    (each) => each !== null,
  );
  const found = new Set(roots);
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

async function measure(pid: number): Promise<{ program: Program; megabytes: number }> {
  const [rollup, commandLine] = await Promise.all([
    readFile(`/proc/${pid}/smaps_rollup`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]);
  const program = programs.find(([, pattern]) => pattern.test(commandLine))?.[0];
  if (!program)
    throw new Error(`unknown process ${pid} of the service: ${commandLine.replaceAll('\0', ' ')}`);
  return { program, megabytes: (Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) * 1024) / 1e6 };
}

export const memoryBench: Bench = async ({ isQuick }): Promise<BenchResult> => {
  const idleSeconds = isQuick ? 5 : 60;
  await using folder = await scratchFolder();
  await using service = await startService(folder);
  await delay(idleSeconds * 1000);
  const measured = await Promise.all(
    (await family([service.pid, (await findPostmaster(service)).pid])).map(measure),
  );
  const total = (wanted?: Program) =>
    measured
      .filter(({ program }) => wanted === undefined || program === wanted)
      .reduce((sum, { megabytes }) => sum + megabytes, 0);
  return {
    figures: [
      figure('all processes', 'MB', [total()]),
      ...programs.map(([program]) => figure(program, 'MB', [total(program)])),
    ],
    settings: {
      idleSecondsAfterReady: idleSeconds,
      ...Object.fromEntries(
        programs.map(([name]) => [
          `processes, ${name}`,
          measured.filter(({ program }) => program === name).length,
        ]),
      ),
    },
  };
};
