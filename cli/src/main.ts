#!/usr/bin/env node
/** `envarium`: the command line's program. */
import { CommanderError } from 'commander';
import { ApiError } from '#contract/client.ts';
import { exitCodeOfError, exitCodes } from './exit-codes.ts';
import { createProgram } from './program.ts';
import { tell } from './session.ts';

/** What a person is told, and what to do. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof ApiError)) return error.message;
  if (error.code === 'unauthorized') return `${error.message}.\nRun "envarium login", or correct ENVARIUM_API_KEY and ENVARIUM_API_SECRET.`;
  if (error.code === 'unreachable')
    return `${error.message}.\nIs the service running, and is its address right? It comes from --api-url, ENVARIUM_API_URL or "envarium login".`;
  return error.status >= 500 && error.requestId ? `${error.message} (request ${error.requestId})` : error.message;
}

// Whoever reads the output may go, as `head` does: then there is nothing left to do.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    throw error;
  });
}

try {
  await createProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.good : exitCodes.badCall;
  } else {
    tell(explain(error));
    process.exitCode = exitCodeOfError(error);
  }
}
