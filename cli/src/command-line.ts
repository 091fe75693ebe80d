/** How commands are declared: each with the flags that all have, and a handler whose answer is the exit status. */
import type { Command } from 'commander';
import { BadCall, type ExitCode, exitCodes } from './exit-codes.ts';
import { openSession, type Session, type SharedFlags } from './session.ts';

export interface Call<Options> {
  readonly session: Session;
  readonly args: readonly (string | undefined)[];
  readonly options: Options;
}

/** Declares the flags that a command shares with all others. */
export function withSharedFlags(command: Command): Command {
  return command
    .optionsGroup('Options of all commands:')
    .option('--json', 'answer with JSON')
    .option('--api-url <address>', 'of the service (ENVARIUM_API_URL)')
    .option('--api-key <id>', 'of the API key (ENVARIUM_API_KEY); its secret comes from ENVARIUM_API_SECRET or "envarium login"')
    .option('--organization-id <id>', 'organization to speak of (ENVARIUM_ORGANIZATION_ID)')
    .helpOption('-h, --help', 'show how the command is called');
}

/** The command's options, with those that stand in front of its name. */
export function optionsOf<Options>(command: Command): Options & SharedFlags {
  const program = command.parent?.parent ?? command.parent;
  return { ...program?.opts(), ...command.opts() } as Options & SharedFlags;
}

/**
 * Sets what a command does.
 * @param command after its own options are declared
 * @param handler answers the exit status; nothing means 0
 */
export function onCall<Options = unknown>(
  command: Command,
  handler: (call: Call<Options>) => Promise<ExitCode | undefined | void>,
): Command {
  return withSharedFlags(command).action(async () => {
    const options = optionsOf<Options>(command);
    const session = await openSession(options);
    process.exitCode = (await handler({ session, args: command.processedArgs as (string | undefined)[], options })) ?? exitCodes.good;
  });
}

/** Gathers the values of a flag that may be given several times. */
export function gather(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/**
 * A whole number of a flag.
 * @throws BadCall that names the flag
 */
export function wholeNumber(flag: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least) return value;
    throw new BadCall(`${flag} must be a whole number from ${least} on, not ${JSON.stringify(text)}.`);
  };
}
