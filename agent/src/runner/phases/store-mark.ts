/** The start mark: written before a command may change the world, and known to the server before it starts. */
import { randomBytes } from 'node:crypto';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { watchFolders } from '../../ship/wake.ts';
import { readMark, readStoredMark, type StartMark } from '../../spool/read-attempt.ts';
import { writeJsonDurably } from '../../spool/write-file.ts';

const pollMilliseconds = 250;

/**
 * Writes the start mark durably and waits until the server has it: a command that changes the world never
 * starts twice, and one that is repeated after a known end has a mark of its own.
 */
export async function storeMark(
  { spool, stop }: Pick<AttemptContext, 'spool' | 'stop'>,
  isRepeated = false,
): Promise<void> {
  const before = readMark(spool)?.mark;
  if (before !== undefined && !isRepeated) return;
  const mark = randomBytes(32).toString('hex');
  await writeJsonDurably(spool.mark, {
    mark,
    ...(before === undefined ? {} : { replaces: before }),
  } satisfies StartMark);
  await new Promise<void>((resolve) => {
    const done = () => {
      const stored = readStoredMark(spool);
      // That there is one says enough of the first: agents of an earlier version wrote nothing into the file.
      const isStored = isRepeated ? stored === mark : stored !== null;
      if (!isStored && stop.reason === null) return;
      clearInterval(timer);
      watching[Symbol.dispose]();
      silence();
      resolve();
    };
    const timer = setInterval(done, pollMilliseconds);
    const watching = watchFolders([spool.folder], done);
    const silence = stop.onStop(() => setImmediate(done));
    setImmediate(done);
  });
  stop.throwIfStopped();
}
