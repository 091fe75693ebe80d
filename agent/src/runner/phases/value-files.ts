/**
 * Files with values of variables that a tool reads again when it applies a saved plan. What code does while its plan
 * is made, or while a tree is prepared elsewhere, must not bring values that the plan does not have.
 */
import { sha256 } from '#protocol/approved.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import { asRunFailure, type Configuration } from '../configuration/configuration.ts';

/** Hashes by path from the configuration's folder; null: there is no such file. */
export type ValueFiles = ReadonlyMap<string, string | null>;

/** @returns an empty map if the tool does not read them again */
export async function readValueFiles(
  { driver }: Pick<RunnerAttempt, 'driver'>,
  { context }: Pick<Configuration, 'context'>,
): Promise<ValueFiles> {
  const hashOf = async (name: string) => {
    const text = await context.tree.text(name);
    return [name, text === null ? null : sha256(text)] as const;
  };
  return asRunFailure(async () => {
    const names = (await driver.savedPlan?.valueFiles?.(context)) ?? [];
    return new Map(await Promise.all([...new Set(names)].map(hashOf)));
  });
}

/** @throws RunFailure that names the first file that differs from what it was before */
export async function requireValueFiles(
  attempt: Pick<RunnerAttempt, 'driver'>,
  configuration: Pick<Configuration, 'context'>,
  before: ValueFiles,
): Promise<void> {
  const after = await readValueFiles(attempt, configuration);
  for (const name of new Set([...before.keys(), ...after.keys()]))
    if ((before.get(name) ?? null) !== (after.get(name) ?? null))
      throw new RunFailure(
        `${name} was changed by the run itself, and an apply would use its values although the plan does not have them: write it before the plan, or give it a name that the tool does not load`,
      );
}
