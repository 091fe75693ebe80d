/** A world of files, for tools that manage files of their own machine. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from './traveller.ts';

/** In a sandbox, a run would make files that no one else sees. */
export const fileWorldSettings = { ENVARIUM_ISOLATION: 'off' };

/** A folder that runs may write to. */
export async function openFolder(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  await chmod(path, 0o777);
  return path;
}

/** Files of a folder by name, with their contents. Folders in it have none; without it, there are none. */
export async function filesIn(folder: string): Promise<World> {
  if (!existsSync(folder)) return {};
  const names = (await readdir(folder)).sort();
  const read = names.map(async (name) => {
    const path = join(folder, name);
    return [name, (await stat(path)).isDirectory() ? 'folder' : await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Lines of a file of a world, 0 without it: each thing that was made notes itself in one. */
export async function linesIn(world: string, name: string): Promise<number> {
  const text = await readFile(join(world, name), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
}
