/** The lock file of a configuration, and what it says of plugins. */
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import type { Configuration } from './configuration.ts';

/** The maximum size of a lock file. */
export const lockFileBytes = 10_000_000;

/** The bytes of the lock file; null if there is none. */
export async function readLockFileBytes(
  attempt: AttemptContext,
  configuration: Pick<Configuration, 'context'>,
): Promise<Uint8Array | null> {
  const { lockFile } = attempt.driver;
  if (lockFile === undefined) return null;
  try {
    return await attempt.tree.read(configuration.context.configurationFolder, lockFile, lockFileBytes);
  } catch (error) {
    throw new RunFailure(`the lock file cannot be read: ${(error as Error).message}`);
  }
}

/** Whether the commands of a prepared configuration start plugins of the tool. */
export async function usesPlugins(
  attempt: AttemptContext,
  configuration: Pick<Configuration, 'context'>,
): Promise<boolean> {
  return hasPlugins(attempt, await readLockFileBytes(attempt, configuration));
}

/** The same, by the configuration's lock file. */
export function hasPlugins({ driver }: AttemptContext, lockFile: Uint8Array | null): boolean {
  const text = lockFile === null ? null : new TextDecoder().decode(lockFile);
  return driver.collector?.hasPlugins(text) !== false;
}
