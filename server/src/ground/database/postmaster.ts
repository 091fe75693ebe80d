/**
 * Starts, finds, watches and ends the server process of an embedded PostgreSQL. It outlives us when we are
 * killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeOtherBinaries } from './binaries.ts';
import { type Cluster, makeSocketFolder, ownFolders, socketOf, writeConfiguration } from './cluster.ts';

export interface Postmaster {
  readonly pid: number;
  readonly socketFolder: string;
  /** True when it was already running. */
  readonly isAdopted: boolean;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

const lookMilliseconds = 5;
const startMilliseconds = 60_000;
const stopMilliseconds = 30_000;
const longestLog = 10 * 1024 * 1024;

/**
 * The running server process of a cluster: the one that runs already, or a new one.
 * @param socketFolder where a new one is to listen; undefined: chosen here
 * @throws Error with the end of PostgreSQL's log, when it does not get ready within a minute
 */
export async function runPostmaster(cluster: Cluster, socketFolder?: string): Promise<Postmaster> {
  const deadline = performance.now() + startMilliseconds;
  for (;;) {
    const found = await adopt(cluster, deadline);
    if (found) return found;
    await endOrphans(cluster, deadline);
    const started = await start(cluster, socketFolder ?? makeSocketFolder(cluster), deadline);
    if (started) return started;
    await delay(100);
  }
}

/** Ends the process: open transactions are rolled back, nothing committed is lost. */
export async function stopPostmaster(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  await end(cluster, postmaster.pid, postmaster.ended);
  if (postmaster.socketFolder !== cluster.defaultSocketFolder)
    rmSync(postmaster.socketFolder, { recursive: true, force: true });
}

async function end(cluster: Cluster, pid: number, ended: Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isProcessOf(cluster, pid)) break;
    process.kill(pid, signal);
    const timer = new AbortController();
    await Promise.race([
      ended,
      delay(stopMilliseconds, undefined, { signal: timer.signal }).catch(() => undefined),
    ]);
    timer.abort();
  }
  await awaited(ended);
}

/** Watching for the end of a postmaster does not keep this process running; during a wait, this does. */
async function awaited(ended: Promise<void>): Promise<void> {
  const wait = setInterval(() => undefined, 1000);
  try {
    await ended;
  } finally {
    clearInterval(wait);
  }
}

interface PidFile {
  readonly pid: number;
  readonly socketFolder: string;
  readonly status: string;
}

function readPidFile(cluster: Cluster): PidFile | undefined {
  try {
    const lines = readFileSync(join(cluster.dataFolder, 'postmaster.pid'), 'utf8')
      .split('\n')
      .map((line) => line.trim());
    const pid = Number(lines[0]);
    return Number.isSafeInteger(pid) && pid > 1
      ? { pid, socketFolder: lines[4] ?? '', status: lines[7] ?? '' }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Like all its processes, a postmaster works in its data folder: one that got its number later does not. */
function isProcessOf(cluster: Cluster, pid: number): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster.dataFolder) &&
      basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres')
    );
  } catch {
    return false;
  }
}

async function adopt(cluster: Cluster, deadline: number): Promise<Postmaster | undefined> {
  for (
    let found = readPidFile(cluster);
    found && isProcessOf(cluster, found.pid);
    found = readPidFile(cluster)
  ) {
    const { pid, socketFolder, status } = found;
    const ended = endOf(cluster, pid);
    if (status === 'ready' && existsSync(socketOf(socketFolder)))
      return { pid, socketFolder, isAdopted: true, ended };
    if (status === 'ready') await end(cluster, pid, ended);
    refusePast(deadline, cluster);
    await delay(lookMilliseconds);
  }
  return undefined;
}

/**
 * Ends what a killed postmaster has left: processes that are in the middle of a statement do not notice its end, and
 * no other one starts while they use its memory.
 */
async function endOrphans(cluster: Cluster, deadline: number): Promise<void> {
  for (;;) {
    const orphans = orphansOf(cluster);
    if (orphans.length === 0) return;
    for (const pid of orphans) sendQuit(pid);
    refusePast(deadline, cluster);
    await delay(lookMilliseconds);
  }
}

function sendQuit(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function orphansOf(cluster: Cluster): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && isProcessOf(cluster, pid) && isOrphan(cluster, pid));
}

/** PostgreSQL names its processes "postgres: …"; a postmaster keeps its command line. */
function isOrphan(cluster: Cluster, pid: number): boolean {
  try {
    const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.startsWith('postgres: ') && !isProcessOf(cluster, Number(parent));
  } catch {
    // It has ended.
    return false;
  }
}

function endOf(cluster: Cluster, pid: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (isProcessOf(cluster, pid)) return;
      clearInterval(timer);
      resolve();
    }, 50);
    timer.unref();
  });
}

/** Undefined: it ended before it was ready because another process still has the cluster; look again. */
async function start(
  cluster: Cluster,
  socketFolder: string,
  deadline: number,
): Promise<Postmaster | undefined> {
  const stale = readPidFile(cluster);
  // No postmaster of this cluster is running. PostgreSQL itself goes by the process ID in its lock files, which
  // another process may have since.
  if (stale) rmSync(join(cluster.dataFolder, 'postmaster.pid'), { force: true });
  rmSync(`${socketOf(socketFolder)}.lock`, { force: true });
  ownFolders(cluster, socketFolder);
  writeConfiguration(cluster, socketFolder);
  removeOtherBinaries(cluster.binaries);
  const child = spawnPostgres(cluster);
  const pid = child.pid;
  const ended = once(child, 'exit').then(() => undefined);
  if (pid === undefined) return ended.then(() => undefined);
  let hasEnded = false;
  void ended.then(
    () => {
      hasEnded = true;
    },
    () => {
      hasEnded = true;
    },
  );
  while (!hasEnded) {
    const found = readPidFile(cluster);
    if (found?.pid === pid && found.status === 'ready') return { pid, socketFolder, isAdopted: false, ended };
    refusePast(deadline, cluster);
    await delay(lookMilliseconds);
  }
  await ended;
  if (!stale && !readPidFile(cluster))
    throw new Error(`The embedded PostgreSQL did not start: ${endOfLog(cluster)}`);
  refusePast(deadline, cluster);
  return undefined;
}

/**
 * In a session of its own, so that Ctrl-C reaches us only; its log goes to a file, since a pipe would end
 * with us.
 */
function spawnPostgres(cluster: Cluster) {
  const log = openSync(cluster.logFile, isLong(cluster.logFile) ? 'w' : 'a', 0o600);
  try {
    const child = spawn(
      cluster.binaries.postgres,
      ['-D', cluster.dataFolder, `--config_file=${join(cluster.configFolder, 'postgresql.conf')}`],
      {
        cwd: cluster.dataFolder,
        env: {},
        detached: true,
        stdio: ['ignore', log, log],
        ...cluster.account,
      },
    );
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

function isLong(file: string): boolean {
  return existsSync(file) && statSync(file).size > longestLog;
}

function refusePast(deadline: number, cluster: Cluster): void {
  if (performance.now() > deadline)
    throw new Error(
      `The embedded PostgreSQL was not ready within ${startMilliseconds / 1000} s: ${endOfLog(cluster)}`,
    );
}

function endOfLog(cluster: Cluster): string {
  return existsSync(cluster.logFile)
    ? readFileSync(cluster.logFile, 'utf8').trim().split('\n').slice(-8).join('\n')
    : `${cluster.logFile} does not exist`;
}
