/**
 * Processor time per deployment and program. Short processes are counted by their parents, exactly: the kernel
 * adds the time of an ended child to the one that waited for it.
 */
import { readFile } from 'node:fs/promises';
import { type Figure, figure } from './figure.ts';
import { type Process, processesOfService } from './processes.ts';
import type { BenchService } from './service.ts';

/** Milliseconds of processor time so far. `runs`: runners with the tools, git and sandboxes that they start. */
export interface Cpu {
  readonly server: number;
  readonly agent: number;
  readonly PostgreSQL: number;
  readonly runs: number;
  readonly script: number;
}

/** Samples are means of this many deployments, because the kernel counts in steps of 10 ms. */
const deploymentsPerSample = 5;

function sum(processes: readonly Process[], programs: readonly string[], field: 'cpu' | 'waitedCpu'): number {
  return processes
    .filter(({ program }) => programs.includes(program))
    .reduce((total, each) => total + each[field], 0);
}

/** The processor time until now of a service and of the scripts that this process has started. */
export async function readCpu(service: BenchService): Promise<Cpu> {
  const processes = await processesOfService(service);
  const stat = await readFile('/proc/self/stat', 'utf8');
  const ended = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  const ofRuns = ['runner', 'tool', 'git', 'sandbox'];
  return {
    server: sum(processes, ['server'], 'cpu') + sum(processes, ['server'], 'waitedCpu'),
    agent: sum(processes, ['agent'], 'cpu'),
    PostgreSQL: sum(processes, ['PostgreSQL'], 'cpu') + sum(processes, ['PostgreSQL'], 'waitedCpu'),
    // The agent waits for nothing else than runners, which have waited for their commands.
    runs: sum(processes, ofRuns, 'cpu') + sum(processes, [...ofRuns, 'agent'], 'waitedCpu'),
    script: ended.reduce((total, ticks) => total + Number(ticks) * 10, 0),
  };
}

/** One deployment: the processor time after it, and that of its commands by program, as its run reports it. */
export interface CpuRound {
  readonly after: Cpu;
  readonly commands: Readonly<{ tool: number; git: number }>;
}

/** @param start before the first round, whose rounds follow without a pause */
export function cpuFigures(start: Cpu, rounds: readonly CpuRound[]): Figure[] {
  const samples = Array.from({ length: Math.floor(rounds.length / deploymentsPerSample) }, (_, index) =>
    sampleOf(
      index === 0 ? start : (rounds[index * deploymentsPerSample - 1] as CpuRound).after,
      rounds.slice(index * deploymentsPerSample, (index + 1) * deploymentsPerSample),
    ),
  );
  const names = Object.keys(samples[0] ?? {}) as (keyof (typeof samples)[number])[];
  return names.map((name) =>
    figure(
      `CPU: ${name}`,
      name.includes(' to ') ? '×' : 'ms',
      samples.map((sample) => sample[name]),
    ),
  );
}

function sampleOf(before: Cpu, rounds: readonly CpuRound[]) {
  const { after } = rounds.at(-1) as CpuRound;
  const per = (total: number) => total / rounds.length;
  const spent = (name: keyof Cpu) => per(after[name] - before[name]);
  const tool = per(rounds.reduce((total, { commands }) => total + commands.tool, 0));
  const git = per(rounds.reduce((total, { commands }) => total + commands.git, 0));
  const runner = spent('runs') - tool - git;
  const own = spent('server') + spent('agent') + spent('PostgreSQL') + runner;
  return {
    'the script, all of it': spent('script'),
    'tool, with its sandbox': tool,
    'git, with its sandbox': git,
    'own processes': own,
    server: spent('server'),
    PostgreSQL: spent('PostgreSQL'),
    agent: spent('agent'),
    'runner, with its starts': runner,
    'own to tool': own / tool,
    'own to the script': own / spent('script'),
    'all to the script': (own + tool + git) / spent('script'),
  };
}
