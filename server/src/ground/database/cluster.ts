/** The folder of the embedded PostgreSQL: created once, configured at each start. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { type Account, initdbAccount, ownAccountName } from './account.ts';
import { type Binaries, installBinaries } from './binaries.ts';
import { takeOver } from './take-over.ts';

export interface Cluster {
  readonly binaries: Binaries;
  readonly account: Account;
  /**
   * PostgreSQL's own folder. Root reads in it, but never writes: what the account planted there would be
   * followed.
   */
  readonly dataFolder: string;
  /** Ours: what the account may read and not change. */
  readonly configFolder: string;
  readonly logFile: string;
  readonly defaultSocketFolder: string;
  readonly isNew: boolean;
}

export const superuser = 'envarium';
const isRoot = process.getuid?.() === 0;
const majorVersion = '18';
const longestSocketPath = 107;
const socketName = '.s.PGSQL.5432';

/**
 * Opens the cluster below `place`, making it where there is none.
 * @param place a folder that the database's account can traverse
 * @param account what PostgreSQL runs as
 * @throws Error when it was made by another major version, or initdb fails
 */
export async function openCluster(place: string, account: Account): Promise<Cluster> {
  refuseShellCharacters(place);
  const folder = join(place, 'postgresql');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o711);
  const cluster: Cluster = {
    binaries: installBinaries(folder),
    account,
    dataFolder: join(folder, 'data'),
    configFolder: join(folder, 'config'),
    logFile: join(folder, 'postgresql.log'),
    defaultSocketFolder: join(folder, 'socket'),
    isNew: !existsSync(join(folder, 'data')),
  };
  if (cluster.isNew) await initialize(cluster);
  refuseOtherVersion(cluster.dataFolder);
  return cluster;
}

/** initdb hands its own path to a shell, between double quotes. */
function refuseShellCharacters(place: string): void {
  if (/["$`\\\n]/.test(place))
    throw new Error(
      `The embedded PostgreSQL cannot use ${JSON.stringify(place)}: the path contains a quotation mark, dollar sign, backquote, backslash or line break. Choose another ENVARIUM_DATA_DIR, or set DATABASE_URL.`,
    );
}

function refuseOtherVersion(dataFolder: string): void {
  const found = readFileSync(join(dataFolder, 'PG_VERSION'), 'utf8').trim();
  if (found === majorVersion) return;
  throw new Error(
    `The database in ${dataFolder} was made by PostgreSQL ${found}; this version of Envarium runs PostgreSQL ${majorVersion}. Go back to the version of Envarium that made it, or move the database to your own PostgreSQL and set DATABASE_URL.`,
  );
}

/** initdb works in a folder that only root and the account's group can enter. */
async function initialize(cluster: Cluster): Promise<void> {
  const unfinished = `${cluster.dataFolder}.new`;
  const folder = join(unfinished, 'data');
  const account = isRoot ? initdbAccount(cluster.account) : cluster.account;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  makePrivateFolder(folder, account);
  if (isRoot) {
    chownSync(unfinished, 0, account.gid);
    chmodSync(unfinished, 0o710);
  }
  const process = spawn(
    cluster.binaries.initdb,
    [
      `--pgdata=${folder}`,
      `--username=${superuser}`,
      '--auth=peer',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      '--set=shared_buffers=32MB',
      '--set=max_connections=60',
    ],
    { cwd: folder, env: {}, stdio: ['ignore', 'pipe', 'pipe'], ...account },
  );
  const exit = new Promise<number | null>((resolve, reject) =>
    process.once('error', reject).once('close', resolve),
  );
  const [output, errors, code] = await Promise.all([
    readText(process.stdout),
    readText(process.stderr),
    exit,
  ]);
  if (code !== 0)
    throw new Error(`initdb could not create the database in ${folder}: ${(errors || output).trim()}`);
  if (isRoot) takeOver(folder, cluster.account);
  renameSync(folder, cluster.dataFolder);
  rmSync(unfinished, { recursive: true });
}

/** A folder that only the account (and root) can enter. */
function makePrivateFolder(folder: string, account: Account): void {
  mkdirSync(folder, { mode: 0o700 });
  if (isRoot) chownSync(folder, account.uid, account.gid);
}

/**
 * A folder for the socket, whose path is short enough: next to the data, or else a new one below a temporary
 * folder.
 * @returns its path; the process that stops the database removes it
 */
export function makeSocketFolder(cluster: Cluster): string {
  if (Buffer.byteLength(join(cluster.defaultSocketFolder, socketName)) <= longestSocketPath) {
    if (!existsSync(cluster.defaultSocketFolder))
      makePrivateFolder(cluster.defaultSocketFolder, cluster.account);
    return cluster.defaultSocketFolder;
  }
  const folder = mkdtempSync(isRoot ? '/run/envarium-' : '/tmp/envarium-');
  if (isRoot) chownSync(folder, cluster.account.uid, cluster.account.gid);
  return folder;
}

/** Gives folders to the account that another setting has left to another one. */
export function ownFolders(cluster: Cluster, socketFolder: string): void {
  if (isRoot) for (const folder of [cluster.dataFolder, socketFolder]) takeOver(folder, cluster.account);
}

export function socketOf(folder: string): string {
  return join(folder, socketName);
}

/**
 * Sized for a machine that does other work too; an administrator's settings go to `custom.conf` next to it.
 */
const fixedSettings = [
  "listen_addresses = ''",
  'unix_socket_permissions = 0700',
  'shared_buffers = 32MB',
  'max_connections = 60',
  'io_method = sync',
  'max_parallel_workers = 0',
  'max_logical_replication_workers = 0',
  'max_wal_size = 512MB',
  'jit = off',
  "timezone = 'UTC'",
  "log_timezone = 'UTC'",
  "lc_messages = 'C'",
  'log_checkpoints = off',
  "log_line_prefix = '%m [%p] '",
];

/**
 * Writes the configuration that the next start reads: who may connect (our own account only) and where the
 * socket is.
 */
export function writeConfiguration(cluster: Cluster, socketFolder: string): void {
  mkdirSync(cluster.configFolder, { recursive: true });
  chmodSync(cluster.configFolder, 0o755);
  const file = (name: string): string => join(cluster.configFolder, name);
  const writeReadable = (name: string, lines: string[]): void => {
    writeFileSync(file(name), `${lines.join('\n')}\n`);
    chmodSync(file(name), 0o644);
  };
  writeReadable('pg_hba.conf', ['local all all peer map=envarium']);
  writeReadable('pg_ident.conf', [`envarium "${ownAccountName()}" ${superuser}`]);
  const custom = existsSync(file('custom.conf')) ? ["include = 'custom.conf'"] : [];
  writeReadable('postgresql.conf', [
    `data_directory = ${quoted(cluster.dataFolder)}`,
    `hba_file = ${quoted(file('pg_hba.conf'))}`,
    `ident_file = ${quoted(file('pg_ident.conf'))}`,
    `unix_socket_directories = ${quoted(`"${socketFolder.replaceAll('"', '""')}"`)}`,
    ...fixedSettings,
    ...custom,
  ]);
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
