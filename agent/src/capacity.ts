/** Room of this machine for runs: how many at once, and the memory that each of them needs. */
import { availableParallelism } from 'node:os';
import type { AgentSettings } from '#settings/settings.ts';
import { availableMemory, totalMemory } from './processes/memory.ts';

const megabyte = 1024 ** 2;
const mostRuns = 64;
/** Runs mostly wait for clouds. */
const runsPerProcessor = 2;
/** A run that has begun takes its memory within this time. */
const growMilliseconds = 30_000;

export interface MachineSize {
  readonly processors: number;
  readonly megabytes: number;
}

function thisMachine(): MachineSize {
  return { processors: availableParallelism(), megabytes: Math.floor(totalMemory() / megabyte) };
}

/** @returns the number of runs at the same time, at least one */
export function runsAtOnce(
  {
    concurrency,
    memoryPerRunMegabytes: needed,
  }: Pick<AgentSettings, 'concurrency' | 'memoryPerRunMegabytes'>,
  { processors, megabytes }: MachineSize = thisMachine(),
): number {
  if (concurrency !== 'auto') return concurrency;
  const byMemory = needed === 0 ? mostRuns : Math.floor(megabytes / needed);
  return Math.max(1, Math.min(mostRuns, processors * runsPerProcessor, byMemory));
}

/** Memory that is missing for another run. */
export interface MemoryShortage {
  readonly availableMegabytes: number;
  readonly neededMegabytes: number;
}

/** Decides whether there is enough memory for another run, also for those that have just begun. */
export class MemoryForRuns {
  readonly #megabytesPerRun: number;
  readonly #available: () => number;
  readonly #now: () => number;
  #begun: number[] = [];

  /** @param megabytesPerRun 0: there is always enough */
  constructor(
    megabytesPerRun: number,
    available = () => availableMemory() / megabyte,
    now = () => performance.now(),
  ) {
    this.#megabytesPerRun = megabytesPerRun;
    this.#available = available;
    this.#now = now;
  }

  begin(): void {
    this.#begun.push(this.#now());
  }

  /** @returns null where there is enough, which holds for the first run in any case */
  shortage(running: number): MemoryShortage | null {
    return this.#shortageOf(running, this.#growing(running) + 1);
  }

  /** The same without the runs that have just begun: what people should know of. */
  lastingShortage(running: number): MemoryShortage | null {
    return this.#shortageOf(running, 1);
  }

  #growing(running: number): number {
    const since = this.#now() - growMilliseconds;
    this.#begun = this.#begun.filter((at) => at > since);
    return Math.min(this.#begun.length, running);
  }

  #shortageOf(running: number, runs: number): MemoryShortage | null {
    if (running === 0 || this.#megabytesPerRun === 0) return null;
    const neededMegabytes = this.#megabytesPerRun * runs;
    const availableMegabytes = Math.floor(this.#available());
    return availableMegabytes < neededMegabytes ? { availableMegabytes, neededMegabytes } : null;
  }
}
