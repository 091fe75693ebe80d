/** Runs one command from its arguments to its exit status. */
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { CodedError, type ExitCode, exitCodeOfError, exitCodes } from './session/exit-codes.ts';
import { explainError } from './session/explain-error.ts';
import { tell } from './session/session.ts';
import { Interrupted } from './terminal/ask.ts';
import { asProcess, type CommandProcess } from './terminal/current-process.ts';

/** Reports the error unless commander has done so. @returns the exit status */
function end(error: unknown): ExitCode {
  if (error instanceof CodedError) {
    end(error.cause);
    return error.exitCode;
  }
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.good : exitCodes.badCall;
  tell(explainError(error));
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return exitCodeOfError(error);
}

/** Runs the command that the arguments name, and sets the exit status; unchanged: 0. */
export function run(current: CommandProcess): Promise<void> {
  return asProcess(current, async () => {
    try {
      await createProgram().parseAsync(current.argv);
    } catch (error) {
      current.exitCode = end(error);
    }
  });
}
