/** The example repositories in `examples/`, which documentation, demo and tests share. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The folder of an example. */
export function exampleFolder(name: string): string {
  return join(import.meta.dirname, '..', 'examples', name);
}

/** @returns the contents of an example's files, by their paths in it */
export async function readFolder(name: string): Promise<Record<string, string>> {
  const folder = exampleFolder(name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [relative(folder, path), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}
