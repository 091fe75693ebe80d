/** The start mark: written, and stored by the server, before a command that changes resources starts. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { watchFolders } from '../../processes/wake.ts';
import { readMark, readStoredMark, type StartMark } from '../../spool/read-attempt.ts';
import { writeJsonDurably } from '../../spool/write-file.ts';

const pollMilliseconds = 250;

/**
 * Writes the start mark durably and waits until the server has stored it, so that a changing command never
 * starts twice. A command that is retried after a known failure gets its own mark.
 */
export async function storeMark(
  { spool, stop }: Pick<AttemptContext, 'spool' | 'stop'>,
  isRepeated = false,
): Promise<void> {
  const before = readMark(spool)?.mark;
  if (before !== undefined && !isRepeated) return;
  const mark = randomBytes(32).toString('hex');
  const mine: StartMark = { mark, ...(before === undefined ? {} : { replaces: before }) };
  // From now on it matters who ran it.
  await writeJsonDurably(
    spool.mark,
    mine,
    [spool.slot, spool.runner, spool.progress].filter((file) => existsSync(file)),
  );
  await new Promise<void>((resolve) => {
    const done = () => {
      const stored = readStoredMark(spool);
      if (stored !== mark && stop.reason === null) return;
      clearInterval(timer);
      watching[Symbol.dispose]();
      unsubscribe();
      resolve();
    };
    const timer = setInterval(done, pollMilliseconds);
    const watching = watchFolders([spool.folder], done);
    const unsubscribe = stop.onStop(() => setImmediate(done));
    setImmediate(done);
  });
  stop.throwIfStopped();
}
