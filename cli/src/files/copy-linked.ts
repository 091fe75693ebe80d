/**
 * Files of a folder whose links lead out of it, as they are in a clone of the whole repository: what is in the repository,
 * too, is copied in the place of the link. All other links stay as they are.
 */
import { execFile } from 'node:child_process';
import { copyFile, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import { promisify } from 'node:util';

/** Names may have any encoding: each character is one byte. */
type Name = string;
/** Lists what belongs to the repository in a folder: all of its files, or only the one with this name. */
export type ListNames = (folder: Name, only?: Name) => Promise<readonly Name[]>;

const bytes = (name: Name) => Buffer.from(name, 'latin1');

async function realOf(path: Name): Promise<Name | null> {
  return realpath(bytes(path), 'latin1').catch(() => null);
}

function isWithin(folder: Name, path: Name): boolean {
  return path === folder || path.startsWith(folder + sep);
}

/** The root of the repository that a folder is in; null: in none. */
export async function repositoryOf(folder: Name): Promise<Name | null> {
  const args = ['-C', Buffer.from(folder, 'latin1').toString(), 'rev-parse', '--show-toplevel'];
  const found = await promisify(execFile)('git', args, { encoding: 'latin1' }).catch(() => null);
  return found && realOf(found.stdout.replace(/\n$/, ''));
}

/** The real path that a link leads to, if that is in the repository and not in the folder; otherwise null. */
async function outgoing(path: Name, folder: Name, repository: Name): Promise<Name | null> {
  if (!(await lstat(bytes(path))).isSymbolicLink()) return null;
  const real = await realOf(path);
  return real !== null && isWithin(repository, real) && !isWithin(folder, real) ? real : null;
}

/** Whether a link among the names leads out of the folder, and stays in the repository. */
export async function hasOutgoing(folder: Name, names: readonly Name[], repository: Name): Promise<boolean> {
  for (const name of names)
    if ((await outgoing(`${folder}/${name}`, folder, repository)) !== null) return true;
  return false;
}

/** Whether what a link leads to can be in a clone: no file that git ignores, and none of git itself. */
async function isInClone(real: Name, listNames: ListNames): Promise<boolean> {
  if (!(await stat(bytes(real))).isFile()) return true;
  const name = basename(real);
  return (await listNames(dirname(real), name)).includes(name);
}

/**
 * Copies files of a folder.
 * @param names relative to it
 * @param to an existing folder
 * @param above folders that are being copied: a link to one of them leads round, and stays a link
 */
export async function copyLinked(
  folder: Name,
  names: readonly Name[],
  to: Name,
  { repository, listNames, above = [] }: { repository: Name; listNames: ListNames; above?: readonly Name[] },
): Promise<void> {
  for (const name of names) {
    const [from, target] = [`${folder}/${name}`, `${to}/${name}`];
    await mkdir(bytes(target.slice(0, target.lastIndexOf('/'))), { recursive: true });
    const found = await outgoing(from, folder, repository);
    const isLeft = found === null || above.includes(found) || !(await isInClone(found, listNames));
    const real = isLeft ? null : found;
    const kind = await (real === null ? lstat(bytes(from)) : stat(bytes(real)));
    if (kind.isSymbolicLink()) await symlink(await readlink(bytes(from), 'buffer'), bytes(target));
    else if (kind.isFile()) await copyFile(bytes(real ?? from), bytes(target));
    else if (kind.isDirectory()) {
      await mkdir(bytes(target), { recursive: true });
      if (real === null) continue;
      const inner = { repository, listNames, above: [...above, folder, real] };
      await copyLinked(real, await listNames(real), target, inner);
    }
  }
}
