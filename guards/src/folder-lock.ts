/**
 * One process per folder: an exclusive lock that is released when its holder ends, in whatever way, and that
 * reports who holds it.
 *
 * The lock is an abstract unix socket, whose name is in a file of the folder that only the folder's owner
 * can read; the kernel releases it with the process. A client that connects receives one line of JSON about
 * the holder. The lock is valid within one network namespace: two containers that share a folder are
 * distinguished by the database and by an agent's epoch.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** Self-description of a holder. */
export interface LockHolder {
  readonly pid: number;
  readonly startedAt: string;
  /** The holder's address, once it knows it. */
  readonly address?: string;
}

export interface FolderLock extends AsyncDisposable {
  readonly folder: string;
}

/** The folder is held by another process, which `holder` describes if it answered. */
export class FolderLockedError extends Error {
  readonly holder: LockHolder | undefined;

  constructor(folder: string, holder: LockHolder | undefined) {
    const who = holder
      ? `process ${holder.pid}, started ${holder.startedAt}${holder.address ? `, at ${holder.address}` : ''}`
      : 'a process that does not answer';
    super(`The folder ${folder} is in use by ${who}. Stop that process first, or use another folder.`);
    this.name = 'FolderLockedError';
    this.holder = holder;
  }
}

const nameFile = 'lock';
const answerMilliseconds = 1000;

/**
 * Acquires the lock of a folder; dispose of it to release the folder.
 * @param folder created if it does not exist
 * @param describe called whenever another process asks who holds the folder; returns what is known by then
 * @throws FolderLockedError when another process, or this one, holds it
 */
export async function lockFolder(
  folder: string,
  describe: () => Partial<LockHolder> = () => ({}),
): Promise<FolderLock> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = realpathSync(folder);
  const name = `\0envarium-${lockName(path)}`;
  const startedAt = new Date().toISOString();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(`${JSON.stringify({ pid: process.pid, startedAt, ...describe() } satisfies LockHolder)}\n`);
  });
  for (;;) {
    if (await listens(server, name)) break;
    const answer = await ask(name);
    if (answer !== 'ended') throw new FolderLockedError(path, answer);
    await delay(10);
  }
  server.unref();
  return { folder: path, [Symbol.asyncDispose]: () => close(server) };
}

/** Random, so that no other process on the machine can use the name first. */
function lockName(folder: string): string {
  const file = join(folder, nameFile);
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    return readName(file);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
  writeFileSync(unfinished, randomBytes(16).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(unfinished);
  }
  return readName(file);
}

function readName(file: string): string {
  const name = readFileSync(file, 'utf8');
  if (/^[0-9a-f]{32}$/.test(name)) return name;
  throw new Error(`${file} does not contain the name of a lock; delete it when no process uses its folder.`);
}

function listens(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => (isCode(error, 'EADDRINUSE') ? resolve(false) : reject(error));
    server.once('error', refused);
    server.listen(name, () => {
      server.removeListener('error', refused);
      resolve(true);
    });
  });
}

/** The listening holder; undefined if it does not answer in time; `ended` if it has already ended. */
async function ask(name: string): Promise<LockHolder | undefined | 'ended'> {
  const socket = connect(name);
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), answerMilliseconds);
  try {
    return JSON.parse(await text(socket)) as LockHolder;
  } catch (error) {
    return isCode(error, 'ECONNREFUSED') ? 'ended' : undefined;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
