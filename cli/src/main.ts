#!/usr/bin/env node
/** `envarium`: the command line's program. */
import { CommanderError } from 'commander';
import { CodedError, type ExitCode, exitCodeOfError, exitCodes } from './exit-codes.ts';
import { explainError } from './session/explain-error.ts';
import { createProgram } from './program.ts';
import { tell } from './session/session.ts';

// Whoever reads the output may go, as `head` does: then there is nothing left to do.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    throw error;
  });
}

/** Tells what went wrong where commander has not done so, and says the exit status. */
function end(error: unknown): ExitCode {
  if (error instanceof CodedError) {
    end(error.cause);
    return error.exitCode;
  }
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.good : exitCodes.badCall;
  tell(explainError(error));
  return exitCodeOfError(error);
}

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = end(error);
}
