/** Declaration of commands: each with the flags that all share, and a handler that returns the exit status. */
import { type Command, Option } from 'commander';
import { BadCall, CodedError, type ExitCode, exitCodes } from '../session/exit-codes.ts';
import { explainReply } from '../session/explain-reply.ts';
import { type CommandSession, openSession, type SharedFlags } from '../session/session.ts';
import { currentProcess } from '../terminal/current-process.ts';
import { instantOf } from './instant.ts';
import { inOptions } from './option-names.ts';

export interface CommandCall<Options> {
  readonly session: CommandSession;
  readonly args: readonly (string | undefined)[];
  /** All operands in order, those of a repeated argument one by one. */
  readonly words: readonly string[];
  readonly options: Options;
}

/** Shared by all commands: there are many of them, and creating an option parses its flags. */
const sharedOptions = [
  new Option('--json', 'print JSON'),
  new Option('--api-url <address>', 'address of the service (ENVARIUM_API_URL)'),
  new Option(
    '--api-key <id>',
    'id of the API key (ENVARIUM_API_KEY); its secret comes from ENVARIUM_API_SECRET or "envarium login"',
  ),
  new Option('--organization-id <id>', 'organization to use (ENVARIUM_ORGANIZATION_ID)'),
] as const;

/** Declares the flags that all commands share. */
export function withSharedFlags(command: Command): Command {
  command.optionsGroup('Options of all commands:');
  for (const option of sharedOptions) command.addOption(option);
  return command.helpOption('-h, --help', 'show help');
}

/** The command's options, including those before its name and before those of its groups; its own win. */
export function optionsOf<Options>(command: Command): Options & SharedFlags {
  const outer = command.parent === null ? {} : optionsOf(command.parent);
  return { ...outer, ...command.opts() } as Options & SharedFlags;
}

/**
 * Sets what a command does.
 * @param command after its own options are declared
 * @param handler returns the exit status; nothing means 0
 * @param errorCode status of every error, if those of other commands have another meaning here
 */
export function onCall<Options = unknown>(
  command: Command,
  handler: (call: CommandCall<Options>) => Promise<ExitCode | undefined | void>,
  { errorCode }: { readonly errorCode?: ExitCode } = {},
): Command {
  if (errorCode !== undefined) {
    command.exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CodedError(error, errorCode);
    });
  }
  return withSharedFlags(command).action(async () => {
    const options = optionsOf<Options>(command);
    currentProcess().exitCode = await withCode(errorCode, () => answerOf(options, command, handler));
  });
}

async function answerOf<Options>(
  options: Options & SharedFlags,
  command: Command,
  handler: (call: CommandCall<Options>) => Promise<ExitCode | undefined | void>,
): Promise<ExitCode> {
  const session = await openSession(options);
  const args = command.processedArgs as (string | undefined)[];
  try {
    return (await handler({ session, args, words: command.args, options })) ?? exitCodes.good;
  } catch (error) {
    throw inOptions(explainReply(error, session.malformed), command);
  }
}

/** Errors of a command whose exit statuses have their own meaning. */
async function withCode(errorCode: ExitCode | undefined, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    throw errorCode === undefined ? error : new CodedError(error, errorCode);
  }
}

/** Collects the values of a flag that may be repeated. */
export function gather(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Parses a whole number. @throws BadCall that names the flag */
export function wholeNumber(flag: string, least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,9}$/.test(text) && value >= least) return value;
    throw new BadCall(`${flag} must be a whole number of at least ${least}, not ${JSON.stringify(text)}.`);
  };
}

/** A time as the service takes it; in UTC without a zone. @throws BadCall that names the flag */
export function timeFlag(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const instant = instantOf(text);
  if (instant === null)
    throw new BadCall(`${flag} must be a time such as 2026-01-31T12:00:00Z or 2026-01-31, not ${text}.`);
  return instant;
}
