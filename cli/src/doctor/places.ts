/** Folders of agent and service: whether they can be written, and have enough free space. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { CommandEnvironment } from '../session/settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { findRunningPrograms, type RunningProgram } from './running-programs.ts';

interface FolderToCheck {
  readonly setting: string;
  readonly what: string;
  readonly path: string;
  /** The default of an agent that is started in this folder. */
  readonly isGuess?: true;
}

const gigabyte = 1024 ** 3;
const scarceBytes = 5 * gigabyte;
const leastBytes = gigabyte;
const leastFiles = 50_000;
/** Of a unix socket's path. */
const longestSocketPath = 107;
const socketPath = ['postgresql', 'socket', '.s.PGSQL.5432'];

function placesOf(environment: CommandEnvironment): FolderToCheck[] {
  const spool = environment.ENVARIUM_SPOOL_DIR;
  const place = (setting: string, what: string): FolderToCheck[] => {
    const path = environment[setting];
    return path ? [{ setting, what, path: resolve(path) }] : [];
  };
  const named = [
    ...place('ENVARIUM_DATA_DIR', 'data folder'),
    ...place('ENVARIUM_SPOOL_DIR', 'spool folder'),
    ...place('ENVARIUM_WORK_DIR', 'work folder'),
    ...place('ENVARIUM_TOOL_CACHE_DIR', 'tool cache'),
    ...place('ENVARIUM_PROVIDER_CACHE_DIR', 'provider cache'),
  ];
  if (spool || environment.ENVARIUM_DATA_DIR) return named;
  return [
    ...named,
    { setting: 'ENVARIUM_SPOOL_DIR', what: 'spool folder', path: resolve('spool'), isGuess: true },
  ];
}

/** The folder itself, or the nearest parent that exists. */
async function nearest(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  return exists || dirname(path) === path ? path : nearest(dirname(path));
}

const gigabytes = (bytes: number) => `${(bytes / gigabyte).toFixed(1)} GB`;

async function checkPlace({ setting, what, path, isGuess }: FolderToCheck): Promise<Finding> {
  const folder = await nearest(path);
  if (!(await stat(folder)).isDirectory())
    return problem(what, `${folder} is not a folder`, `Set another one with ${setting}.`);
  const isWritable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return (isGuess ? warning : problem)(
      what,
      `${folder} cannot be written by this user`,
      `Change its owner, or set another one with ${setting}.`,
    );
  const { bavail, bsize, ffree, files } = await statfs(folder);
  const free = bavail * bsize;
  const shown = `${path}, ${gigabytes(free)} free`;
  const advice = `Free some space, or set another folder with ${setting}.`;
  if (free < leastBytes) return problem(what, shown, advice);
  if (files > 0 && ffree < leastFiles)
    return warning(what, `${shown}, but only ${ffree} free inodes`, advice);
  return free < scarceBytes ? warning(what, shown, advice) : ok(what, shown);
}

/** The first folder on the path that other users cannot enter; null if they can reach it. */
async function closedOnTheWay(path: string): Promise<string | null> {
  const folder = await nearest(path);
  for (let each = folder; ; each = dirname(each)) {
    if (((await stat(each)).mode & 0o001) === 0) return each;
    if (dirname(each) === each) return null;
  }
}

async function checkWay(environment: CommandEnvironment, isRoot: boolean): Promise<Finding[]> {
  const path = environment.ENVARIUM_WORK_DIR;
  if (!isRoot || !path) return [];
  const closed = await closedOnTheWay(resolve(path));
  if (closed === null) return [];
  return [
    problem(
      'work folder',
      `${closed} cannot be entered by the users of runs`,
      `Run chmod o+x ${closed}, or set another folder with ENVARIUM_WORK_DIR.`,
    ),
  ];
}

/** The socket of the database is in the data folder if its path is short enough. */
function checkSocket(environment: CommandEnvironment): Finding[] {
  const data = environment.ENVARIUM_DATA_DIR;
  if (!data || environment.DATABASE_URL) return [];
  const length = Buffer.byteLength(join(resolve(data), ...socketPath));
  if (length <= longestSocketPath)
    return [ok('socket', `its path in the data folder has ${length} of ${longestSocketPath} bytes`)];
  const text = `its path in the data folder would have ${length} bytes, more than the ${longestSocketPath} of a socket; it is in a temporary folder instead`;
  return [warning('socket', text, 'Use a data folder with a shorter path to keep it private.')];
}

/** The keys that encrypt secrets must be private. */
async function checkSealingKey(environment: CommandEnvironment): Promise<Finding[]> {
  const data = environment.ENVARIUM_DATA_DIR;
  const file =
    environment.ENVARIUM_SEALING_KEY_FILE ?? (data ? join(resolve(data), 'sealing.key') : undefined);
  if (file === undefined) return [];
  const status = await stat(file).catch(() => null);
  if (status === null) {
    if (!environment.ENVARIUM_SEALING_KEY_FILE) return [];
    return [
      problem(
        'sealing key',
        `${file} does not exist`,
        'Without it, encrypted data cannot be read: restore it from the backup.',
      ),
    ];
  }
  if ((status.mode & 0o077) !== 0)
    return [
      problem(
        'sealing key',
        `${file} is readable by others`,
        `Run chmod 600 on it, and consider its keys compromised.`,
      ),
    ];
  return [
    ok('sealing key', `${file} is private; keep a copy of it, separate from the backup of the database`),
  ];
}

/** @param isRoot whether the program that uses the folders runs as root */
export async function checkPlaces(
  environment: CommandEnvironment,
  isRoot = process.getuid?.() === 0,
): Promise<Finding[]> {
  const places = await Promise.all(placesOf(environment).map(checkPlace));
  return [
    ...places,
    ...(await checkWay(environment, isRoot)),
    ...checkSocket(environment),
    ...(await checkSealingKey(environment)),
  ];
}

async function checkProgram({ kind, pid, isRoot, environment }: RunningProgram): Promise<Finding[]> {
  const name = `${kind}, process ${pid}`;
  if (environment !== null) return [ok('running', name), ...(await checkPlaces(environment, isRoot))];
  return [
    warning(
      'running',
      `${name}, belongs to another user: its folders are not checked`,
      'Run the doctor as that user or as root.',
    ),
  ];
}

/**
 * Checks the folders of the services and agents that run on this machine, and those that the doctor's own
 * environment names.
 * @param processes where the system lists its processes
 */
export async function checkFolders(environment: CommandEnvironment, processes?: string): Promise<Finding[]> {
  const programs = await findRunningPrograms(processes);
  if (!programs.some((program) => program.environment !== null)) {
    const source = 'the folders are those of this environment, or the defaults in this folder';
    const none =
      programs.length === 0
        ? [ok('running', `no service or agent was found on this machine; ${source}`)]
        : [];
    const found = await Promise.all(programs.map(checkProgram));
    return [...none, ...found.flat(), ...(await checkPlaces(environment))];
  }
  const isNamed = environment.ENVARIUM_DATA_DIR || environment.ENVARIUM_SPOOL_DIR;
  const found = await Promise.all([
    ...programs.map(checkProgram),
    ...(isNamed ? [checkPlaces(environment)] : []),
  ]);
  // The service and its agent share folders.
  return [...new Map(found.flat().map((finding) => [JSON.stringify(finding), finding])).values()];
}
