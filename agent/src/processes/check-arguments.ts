/** What may be passed on to a process. */
import { RunFailure } from './failure.ts';

/**
 * A zero byte ends an argument, also one of bubblewrap's: what follows it would become an option of its own. Names and
 * values are checked here, directly before a start, whatever has composed them.
 * @throws RunFailure that names the variable, without any value
 */
export function checkArguments(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || /[=\0]/.test(name))
      throw new RunFailure(
        `the environment variable ${JSON.stringify(name.split(/[=\0]/)[0])} cannot be passed on: its name is empty, or contains = or a zero character`,
      );
    if (value.includes('\0'))
      throw new RunFailure(`${name}: an environment variable cannot hold a zero character`);
  }
  if (command.some((text) => text.includes('\0')))
    throw new RunFailure(`an argument of ${command[0]?.split('\0')[0]} contains a zero character`);
}
