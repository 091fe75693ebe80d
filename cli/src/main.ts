#!/usr/bin/env node
/** `envarium`: the command line's program. */
import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { CodedError, type ExitCode, exitCodeOfError, exitCodes } from './session/exit-codes.ts';
import { explainError } from './session/explain-error.ts';
import { tell } from './session/session.ts';
import { Interrupted } from './terminal/ask.ts';

// The reader of the output may exit early, as `head` does: then there is nothing left to do.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    throw error;
  });
}

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

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = end(error);
}
