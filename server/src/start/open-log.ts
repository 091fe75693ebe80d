/** The service's log, which goes to stderr. */
import pino, { type Logger } from 'pino';

/** Lines that cannot be written are kept up to this size, and written once that is possible again. */
const mostKeptBytes = 4 * 1024 * 1024;

/**
 * Opens the log. A log that cannot be written, because a disk is full or its reader has gone, does not end the
 * service; neither does stdout.
 */
export function openLog(level: string): Logger {
  let keptBytes = 0;
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on('write', (bytes) => (keptBytes -= bytes));
  destination.on('error', () => {});
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const write = (line: string): void => {
    // Every write tries again to write what is kept, an empty one, too.
    const accepted = keptBytes < mostKeptBytes ? line : '';
    keptBytes += Buffer.byteLength(accepted);
    destination.write(accepted);
  };
  return pino({ level }, { write });
}
