/** Options and arguments with a list of values, shown by `--help` and completed by shells. */
import { Argument, Option } from 'commander';

/** An option with these values; the service decides whether it accepts others. */
export function optionOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
}

/** An argument that must be one of these. */
export function argumentOf(name: string, description: string, values: readonly string[]): Argument {
  return new Argument(name, description).choices(values);
}
