/**
 * Files with values of variables that a tool reads again when it applies a saved plan. What code does while its plan
 * is made, or while a tree is prepared elsewhere, must not bring values that the plan does not have.
 */
import { sha256 } from '#protocol/approved.ts';
import type { Driver, DriverContext } from '../../drivers/interface/driver.ts';
import { RunFailure } from '../../processes/failure.ts';
import { asRunFailure } from '../configuration/configuration.ts';

/** Hashes by path from the configuration's folder; null: there is no such file. */
type ValueFiles = ReadonlyMap<string, string | null>;

/** @returns an empty map if the tool does not read them again */
async function readValueFiles(driver: Driver, context: DriverContext): Promise<ValueFiles> {
  const hashOf = async (name: string) => {
    const text = await context.tree.text(name);
    return [name, text === null ? null : sha256(text)] as const;
  };
  return asRunFailure(async () => {
    const names = (await driver.savedPlan?.valueFiles?.(context)) ?? [];
    return new Map(await Promise.all([...new Set(names)].map(hashOf)));
  });
}

/**
 * Reads them now, and compares later.
 * @returns a function that throws a RunFailure which names the first file that differs by then
 */
export async function watchValueFiles(driver: Driver, context: DriverContext): Promise<() => Promise<void>> {
  const before = await readValueFiles(driver, context);
  return async () => {
    const after = await readValueFiles(driver, context);
    for (const name of new Set([...before.keys(), ...after.keys()]))
      if ((before.get(name) ?? null) !== (after.get(name) ?? null))
        throw new RunFailure(
          `${name} was changed by the run itself, and an apply would use its values although the plan does not have them: write it before the plan, or give it a name that the tool does not load`,
        );
  };
}
