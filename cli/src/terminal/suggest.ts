/**
 * Options and arguments with a list of values: shown by `--help` and completed by shells. The service decides
 * which it takes.
 */
import { Argument, Option } from 'commander';

/** An option that takes one of these values; what the list lacks is sent all the same. */
export function optionOf(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
}

/** An argument that must be one of these. */
export function argumentOf(name: string, description: string, values: readonly string[]): Argument {
  return new Argument(name, description).choices(values);
}
