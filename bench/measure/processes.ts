/** The processes of a service with everything below them, by program: their memory and processor time. */
import { readdir, readFile } from 'node:fs/promises';
import { findPostmaster } from './database.ts';
import type { BenchService } from './service.ts';

/** The first pattern that matches a command line names its program. */
const patterns = [
  ['runner', /agent(\/src\/main\.ts|\.mjs)\0(runner|tree-server)/],
  ['agent', /agent(\/src\/main\.ts|\.mjs)/],
  ['PostgreSQL', /postgres/],
  ['server', /server(\/src\/main\.ts|\.mjs)/],
  ['git', /^[^\0]*\bgit\b/],
  ['sandbox', /\bbwrap\b/],
  ['npm', /^npm\b/],
] as const;

/** `tool`: everything else that a run starts. */
export type ProgramKind = (typeof patterns)[number][0] | 'tool';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly program: ProgramKind;
  /** Processor time so far in milliseconds: its own, and that of its children that have ended. */
  readonly cpu: number;
  readonly waitedCpu: number;
}

const tickMilliseconds = 10;

async function readProcess(pid: number): Promise<Process> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * tickMilliseconds;
  const program = patterns.find(([, pattern]) => pattern.test(commandLine))?.[0] ?? 'tool';
  return { pid, parent: Number(fields[1]), program, cpu: ticks(11), waitedCpu: ticks(13) };
}

async function allProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  return (await Promise.all(pids.map((pid) => readProcess(pid).catch(() => null)))).filter(
    (each) => each !== null,
  );
}

/** Kills a process and everything that it has started, without any of them noticing the end of another one. */
export async function killTree(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  const all = withDescendants(new Set([pid]), await allProcesses());
  for (const signal of ['SIGSTOP', 'SIGKILL'] as const) for (const each of all) process.kill(each, signal);
}

function withDescendants(found: Set<number>, all: readonly Process[]): Set<number> {
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return found;
}

/** All processes of the service that run now; each of them may end while the others are read. */
export async function processesOfService(service: BenchService): Promise<Process[]> {
  return processesBelow([service.pid, (await findPostmaster(service)).pid]);
}

/** Some processes and everything that they have started, as far as it runs now. */
export async function processesBelow(tops: readonly number[]): Promise<Process[]> {
  const all = await allProcesses();
  const found = withDescendants(new Set(tops), all);
  return all.filter(({ pid }) => found.has(pid));
}

/** The proportional set size, which counts shared pages only once, in megabytes; 0 for an ended process. */
export async function megabytesOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return (Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * 1024) / 1e6;
}
