/** The repository as files: where it is, what it holds. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const root = dirname(dirname(import.meta.dirname));

/** Names in .gitignore, and git's own: a folder, or a file in a worktree. */
const ignoredNames = new Set(['.git', 'node_modules', '.cache', '.env']);
const ignoredTopFolders = new Set(['data', 'dist']);

/**
 * Files of the repository, by walking it: works in an export without git as well.
 * @param folder where to start, absolute; default: the root
 * @returns paths relative to the root, with `/`, sorted
 */
export function repositoryFiles(folder = root): string[] {
  return walk(folder)
    .map((file) => relative(root, file).replaceAll('\\', '/'))
    .toSorted();
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (ignoredNames.has(entry.name) || (folder === root && ignoredTopFolders.has(entry.name))) return [];
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() && !entry.name.endsWith('.log') ? [path] : [];
  });
}

/** The text of a file of the repository, or null where it is binary. */
export function textOf(file: string): string | null {
  const bytes = readFileSync(join(root, file));
  return bytes.includes(0) ? null : bytes.toString('utf8');
}
