/** Settings of the tool's garbage collector for commands that start no other programs of its kind. */
import type { Command } from '../../drivers/interface/command.ts';
import type { RunnerAttempt } from '../commands/runner-attempt.ts';
import type { Configuration } from '../configuration/configuration.ts';

/**
 * A provider gets the environment of its tool, and nobody knows how much memory it keeps: where there are any, the
 * tool runs as by hand. `init` only installs them.
 * @returns variables for the command; empty if the run sets one of them itself
 */
export function collectorSettings(
  { driver, order }: Pick<RunnerAttempt, 'driver' | 'order'>,
  { environment, hasPlugins }: Pick<Configuration, 'environment' | 'hasPlugins'>,
  command: Pick<Command, 'installsProviders'>,
): Readonly<Record<string, string>> {
  const isAlone = command.installsProviders === true || hasPlugins === false;
  if (!isAlone || driver.collector === undefined) return {};
  const settings = driver.collector.settings(order.runLimits?.memoryBytes ?? null);
  return Object.keys(settings).some((name) => name in environment) ? {} : settings;
}
