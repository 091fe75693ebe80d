/** Puts a built web interface into a folder for distribution. */
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Path of the web interface.
 * @param folder of the distribution, absolute
 * @throws Error where something else is there already, such as the sources of a checkout, which would be lost
 */
export function placeOfWeb(folder: string): string {
  const place = join(folder, 'web');
  // Each build has this file, and the sources do not.
  if (existsSync(place) && !existsSync(join(place, 'LICENSES.txt')))
    throw new Error(`${place} contains something else than a built web interface: name another folder`);
  return place;
}

/**
 * Replaces the web interface of a distribution.
 * @param built folder of the web interface
 * @returns where it is now
 * @throws Error as `placeOfWeb` does
 */
export async function copyWeb(built: string, folder: string): Promise<string> {
  const place = placeOfWeb(folder);
  // Files of an earlier version have other names.
  await rm(place, { recursive: true, force: true });
  await cp(built, place, { recursive: true });
  return place;
}
