/** Folders in which agent and service keep things: whether they can be written, and whether there is room. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../session/settings.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

interface Place {
  readonly setting: string;
  readonly what: string;
  readonly path: string;
  /** No setting names it: an agent that is started right here would use it. */
  readonly isGuess?: true;
}

const gigabyte = 1024 ** 3;
const scarceBytes = 5 * gigabyte;
const leastBytes = gigabyte;
const leastFiles = 50_000;
/** Of a unix socket's path. */
const longestSocketPath = 107;
const socketPath = ['postgresql', 'socket', '.s.PGSQL.5432'];

function placesOf(environment: Environment): Place[] {
  const spool = environment.ENVARIUM_SPOOL_DIR;
  const place = (setting: string, what: string): Place[] => {
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

/** The folder itself, or the nearest one above it that is there. */
async function nearest(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearest(dirname(path));
}

const gigabytes = (bytes: number) => `${(bytes / gigabyte).toFixed(1)} GB`;

async function checkPlace({ setting, what, path, isGuess }: Place): Promise<Finding> {
  const folder = await nearest(path);
  if (!(await stat(folder)).isDirectory())
    return problem(what, `${folder} is no folder`, `Name another one by ${setting}.`);
  const isWritable = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return (isGuess ? warning : problem)(
      what,
      `${folder} cannot be written by this user`,
      `Change its owner, or name another one by ${setting}.`,
    );
  const { bavail, bsize, ffree, files } = await statfs(folder);
  const free = bavail * bsize;
  const shown = `${path}, ${gigabytes(free)} free`;
  const advice = `Make room, or name a folder elsewhere by ${setting}.`;
  if (free < leastBytes) return problem(what, shown, advice);
  if (files > 0 && ffree < leastFiles)
    return warning(what, `${shown}, but room for ${ffree} more files only`, advice);
  return free < scarceBytes ? warning(what, shown, advice) : ok(what, shown);
}

/** The first folder on the way that other users cannot pass; null where they get there. */
async function closedOnTheWay(path: string): Promise<string | null> {
  const folder = await nearest(path);
  for (let each = folder; ; each = dirname(each)) {
    if (((await stat(each)).mode & 0o001) === 0) return each;
    if (dirname(each) === each) return null;
  }
}

async function checkWay(environment: Environment): Promise<Finding[]> {
  const path = environment.ENVARIUM_WORK_DIR;
  if (process.getuid?.() !== 0 || !path) return [];
  const closed = await closedOnTheWay(resolve(path));
  if (closed === null) return [];
  return [
    problem(
      'work folder',
      `${closed} is closed to the users that runs get`,
      `chmod o+x ${closed}, or name a folder elsewhere by ENVARIUM_WORK_DIR.`,
    ),
  ];
}

/** The database's socket lies in the data folder where its path is short enough. */
function checkSocket(environment: Environment): Finding[] {
  const data = environment.ENVARIUM_DATA_DIR;
  if (!data || environment.DATABASE_URL) return [];
  const length = Buffer.byteLength(join(resolve(data), ...socketPath));
  if (length <= longestSocketPath)
    return [ok('socket', `its path in the data folder has ${length} of ${longestSocketPath} bytes`)];
  const text = `its path in the data folder would have ${length} bytes, more than the ${longestSocketPath} of a socket; it goes to a temporary folder`;
  return [
    warning('socket', text, 'A data folder with a shorter path keeps it where only the service looks.'),
  ];
}

/** The keys that secrets are sealed with must be private. */
async function checkSealingKey(environment: Environment): Promise<Finding[]> {
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
        `${file} is not there`,
        'Without it nothing that was sealed can be read: bring it back from the backup.',
      ),
    ];
  }
  if ((status.mode & 0o077) !== 0)
    return [
      problem(
        'sealing key',
        `${file} is readable by others`,
        `Run chmod 600 on it, and consider its keys known.`,
      ),
    ];
  return [ok('sealing key', `${file} is private; keep a copy of it apart from the database's backup`)];
}

export async function checkPlaces(environment: Environment): Promise<Finding[]> {
  const places = await Promise.all(placesOf(environment).map(checkPlace));
  return [
    ...places,
    ...(await checkWay(environment)),
    ...checkSocket(environment),
    ...(await checkSealingKey(environment)),
  ];
}
