/** The machine that the figures were measured on. */
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, type as systemType, totalmem } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  readonly terraform: string;
  readonly git: string;
  /**
   * Mean number of processes that were ready to run in the last minute, before the first measurement: above
   * `cores` the machine is busy with something else.
   */
  readonly loadBefore: number;
}

async function firstLine(program: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, CHECKPOINT_DISABLE: '1' };
  const { stdout } = await run(program, args, { env }).catch((cause: unknown) => {
    throw new Error(`The benchmark needs ${program} on the PATH, but it cannot be run.`, { cause });
  });
  return stdout.split('\n')[0] ?? '';
}

/** @throws Error when git or terraform is not on the PATH */
export async function describeMachine(): Promise<Machine> {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    // Its build says nothing about the figures.
    kernel: `${systemType()} ${release().split('.', 2).join('.')}`,
    node: process.version,
    terraform: await firstLine('terraform', 'version'),
    git: await firstLine('git', '--version'),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}
