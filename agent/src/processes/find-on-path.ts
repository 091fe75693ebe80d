/** Finds programs on the PATH without a shell. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * @param name a program name without a slash
 * @param path folders as in PATH; relative ones are ignored
 * @returns the absolute path of the first executable file with that name; null if there is none
 */
export async function findOnPath(
  name: string,
  path: string = process.env.PATH ?? '',
): Promise<string | null> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return null;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
