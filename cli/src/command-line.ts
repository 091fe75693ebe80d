/**
 * How commands are declared: each with the flags that all have, and a handler whose answer is the exit
 * status.
 */
import { type Command, Option } from 'commander';
import { BadCall, CodedError, type ExitCode, exitCodes } from './exit-codes.ts';
import { openSession, type Session, type SharedFlags } from './session/session.ts';

export interface Call<Options> {
  readonly session: Session;
  readonly args: readonly (string | undefined)[];
  /** All operands as they were given, those of a repeated argument one by one. */
  readonly words: readonly string[];
  readonly options: Options;
}

/** One object each for all commands: there are many commands, and making an option reads its flags. */
const sharedOptions = [
  new Option('--json', 'answer with JSON'),
  new Option('--api-url <address>', 'of the service (ENVARIUM_API_URL)'),
  new Option(
    '--api-key <id>',
    'of the API key (ENVARIUM_API_KEY); its secret comes from ENVARIUM_API_SECRET or "envarium login"',
  ),
  new Option('--organization-id <id>', 'organization to speak of (ENVARIUM_ORGANIZATION_ID)'),
] as const;

/** Declares the flags that a command shares with all others. */
export function withSharedFlags(command: Command): Command {
  command.optionsGroup('Options of all commands:');
  for (const option of sharedOptions) command.addOption(option);
  return command.helpOption('-h, --help', 'show how the command is called');
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
 * @param errorCode status of every error, where those of other commands mean something else here
 */
export function onCall<Options = unknown>(
  command: Command,
  handler: (call: Call<Options>) => Promise<ExitCode | undefined | void>,
  { errorCode }: { readonly errorCode?: ExitCode } = {},
): Command {
  if (errorCode !== undefined) {
    command.exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CodedError(error, errorCode);
    });
  }
  return withSharedFlags(command).action(async () => {
    const options = optionsOf<Options>(command);
    process.exitCode = await withCode(errorCode, () => answerOf(options, command, handler));
  });
}

async function answerOf<Options>(
  options: Options & SharedFlags,
  command: Command,
  handler: (call: Call<Options>) => Promise<ExitCode | undefined | void>,
): Promise<ExitCode> {
  const session = await openSession(options);
  const code = await handler({
    session,
    args: command.processedArgs as (string | undefined)[],
    words: command.args,
    options,
  });
  return code ?? exitCodes.good;
}

/** Errors of a command whose statuses mean something of their own. */
async function withCode(errorCode: ExitCode | undefined, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    throw errorCode === undefined ? error : new CodedError(error, errorCode);
  }
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
