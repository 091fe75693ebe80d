/** The accounts that a run sees: programs such as ssh end where their user has none. */
import { existsSync, readFileSync } from 'node:fs';

/** Of the machine, and in a sandbox of the run. */
export const accountsFile = '/etc/passwd';

/**
 * The machine's accounts, and one for the user of a run.
 * @param home absolute path
 * @returns null if the user has an account already, or if none can be described
 */
export function accountsWith(uid: number, home: string): string | null {
  if (!existsSync(accountsFile) || /[:\n]/.test(home)) return null;
  const text = readFileSync(accountsFile, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.some((line) => line.split(':')[2] === String(uid))) return null;
  return `${[...lines, `run:x:${uid}:${uid}:run:${home}:/bin/sh`].join('\n')}\n`;
}
