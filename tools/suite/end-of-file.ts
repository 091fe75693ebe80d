/** Closes what tests share when their file or their process ends; the runner lets several files share a process. */
import { after } from 'node:test';

type Close = () => Promise<unknown>;
const ofFile: Close[] = [];
const ofProcess: Close[] = [];

/** @param close called at the end of the test file; what was opened last is closed first */
export function atEndOfFile(close: Close): void {
  ofFile.push(close);
}

/** @param close called after the last test file of the process; what was opened last is closed first */
export function atEndOfProcess(close: Close): void {
  ofProcess.push(close);
}

async function closeAll(closers: Close[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers.splice(0).reverse())
    await close().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw new AggregateError(errors, 'Not everything could be closed.');
}

/** Closes what the file has opened; called by the runner after each file of a process that has several. */
export function endFile(): Promise<void> {
  return closeAll(ofFile);
}

after(async () => {
  try {
    await endFile();
  } finally {
    await closeAll(ofProcess);
  }
});
