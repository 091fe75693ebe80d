/** Finds the programs that a run needs: never on a user's PATH, never through the agent's own environment. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { findOnPath, isExecutable, usualPath } from '#guards/find-on-path.ts';
import { programFacts } from '#protocol/tools/index.ts';
import { RunFailure } from './failure.ts';
import { namesIn } from './proc.ts';

/** The PATH that tools see unless a variable of the run replaces it. */
export const toolPath = usualPath;

const howToGet: Readonly<Record<string, string>> = {
  git: 'install it on the agent\'s machine (package "git")',
  ssh: 'install it on the agent\'s machine (package "openssh-client")',
  tar: 'install it on the agent\'s machine (package "tar")',
  setpriv: 'install it on the agent\'s machine (package "util-linux")',
};

/** @returns the absolute path of a program; null if it is not installed */
export function findProgram(name: string): string | null {
  return findOnPath(name, toolPath);
}

/** Paths that a sandbox has to show for a program: its file, and all of the Python environment that it belongs to. */
export function placesOfProgram(program: string): string[] {
  try {
    const folder = dirname(dirname(realpathSync(program)));
    return existsSync(join(folder, 'pyvenv.cfg')) ? [program, folder] : [program];
  } catch {
    return [program];
  }
}

/** The programs next to one that are part of the same release. @param path absolute, of the program of that name */
export function nextInRelease(name: string, path: string): string[] {
  const release = programFacts(name)?.release;
  const { others, entry } = (release?.kind === 'archive' && release.archive('', '')) || {};
  if (others === undefined || entry === undefined || path === '') return [];
  const folder = dirname(realpathSync(path));
  return namesIn(folder)
    .filter((each) => others.test(posix.join(posix.dirname(entry), each)))
    .map((each) => join(folder, each));
}

/**
 * All programs of the Python package that one belongs to, which are next to it; none for other programs.
 * @param path absolute, of the program of that name
 */
export function programsOfPackage(name: string, path: string): string[] {
  const release = programFacts(name)?.release;
  if (release?.kind !== 'python') return [];
  const folder = dirname(realpathSync(path));
  return namesIn(folder)
    .filter((each) => release.all.test(each))
    .map((each) => join(folder, each));
}

/** Like `requireProgram`, but returns null for a missing program. */
export function findKnownProgram(name: string, known: Readonly<Record<string, string>>): string | null {
  const path = known[name];
  if (path === undefined) return findProgram(name);
  return path !== '' && isExecutable(path) ? path : null;
}

/**
 * @param known paths that the agent resolved, by program name; they take precedence, and an empty one means
 * that the program is not on its PATH
 * @throws RunFailure that names the program and how to install it
 */
export function requireProgram(name: string, known: Readonly<Record<string, string>> = {}): string {
  const path = known[name];
  if (path && isExecutable(path)) return path;
  const found = path === undefined ? findProgram(name) : null;
  if (found !== null) return found;
  const where = path
    ? `${name} was expected at ${path}, but is not there`
    : `${name} is not on the agent's PATH`;
  throw new RunFailure(
    `${where}: ${programFacts(name)?.howToGet ?? howToGet[name] ?? "install it on the agent's machine"}, then deploy again`,
    {
      result: 'failed',
      failedCommand: name,
    },
  );
}
