#!/usr/bin/env node
import { run } from './run.ts';
/** `envarium`: the command line's program. */
import { exitCodes } from './session/exit-codes.ts';

// The reader of the output may exit early, as `head` does: then there is nothing left to do.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe);
    throw error;
  });
}

await run(process);
