/** The example repositories in `examples/`, which documentation, demo and tests share. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './tree/repository.ts';

/** @returns the contents of an example's files, by their paths in it */
export function readExample(name: string): Record<string, string> {
  const folder = join(root, 'examples', name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), readFileSync(path, 'utf8')];
    }),
  );
}
