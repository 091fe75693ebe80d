/** Starts the program opa: with an empty environment, under limits, and so that it ends with the service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { killGroup, limitedCommand } from '../../../code/repositories/git/run-git.ts';
import type { Context } from '../../../framework/context.ts';
import { findOpa } from './find-opa.ts';
import { PolicyError } from './policy-error.ts';

const megabyte = 1024 * 1024;
const mostOutputCharacters = 4 * megabyte;

/** Requirements for starting it. */
export type OpaSettings = Pick<
  Context['settings'],
  'opaProgram' | 'policyMemoryMegabytes' | 'policyTimeLimitSeconds' | 'policyProcesses' | 'dataFolder'
>;

/** Growth of memory in percent after which garbage is collected: seldom, but before the limit, which would end it. */
const garbagePercent = 300;

/** @param args of opa. @throws PolicyError that says how to install it */
export function startOpa(
  settings: OpaSettings,
  args: readonly string[],
  folder: string,
  percent = garbagePercent,
): ChildProcess {
  const memoryBytes = settings.policyMemoryMegabytes * megabyte;
  const limits = { fileBytes: 64 * megabyte, memoryBytes };
  const opa = findOpa(settings);
  if (opa.problem !== undefined) throw new PolicyError(opa.problem);
  const [program, ...words] = limitedCommand([opa.program, ...args], limits);
  return spawn(program, words, {
    cwd: folder,
    env: { GOGC: String(percent), GOMEMLIMIT: String(Math.floor(memoryBytes * 0.7)), GOMAXPROCS: '2' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Runs a command of opa to its end.
 * @throws PolicyError where it takes too long
 */
export async function runOpa(
  settings: OpaSettings,
  args: readonly string[],
  folder: string,
): Promise<{ readonly exitCode: number | null; readonly output: string; readonly complaints: string }> {
  const child = startOpa(settings, args, folder);
  const texts = { output: '', complaints: '' };
  const collect = (name: keyof typeof texts) => (part: string) => {
    texts[name] = (texts[name] + part).slice(0, mostOutputCharacters);
  };
  child.stdout?.setEncoding('utf8').on('data', collect('output'));
  child.stderr?.setEncoding('utf8').on('data', collect('complaints'));
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    killGroup(child);
  }, settings.policyTimeLimitSeconds * 1000);
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (isLate)
      throw new PolicyError(
        `Compiling the policy takes longer than ${settings.policyTimeLimitSeconds} s (setting ENVARIUM_POLICY_TIME_LIMIT_SECONDS)`,
      );
    return { exitCode, ...texts };
  } finally {
    clearTimeout(limit);
  }
}
