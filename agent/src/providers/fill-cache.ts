/** Adds packages to the cache: one download for all runs, checked and complete before it becomes visible. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FolderLock, FolderLockedError, lockFolder } from '#guards/folder-lock.ts';
import { syncFolder } from '../spool/write-file.ts';
import {
  type CachedPackage,
  cachedPackage,
  directoryHash,
  keepPackage,
  keyOf,
  type ProviderCacheOptions,
  packageFolder,
  writeRecord,
} from './provider-cache.ts';
import { nameOf, type ProviderPackage } from './provider-package.ts';
import { fetchPackage, type Upstream } from './registry-client.ts';
import { unpackZip } from './unpack-zip.ts';

type LogLine = (text: string) => void;

const lockPollMilliseconds = 50;

/**
 * Adds a package to the cache unless it is already there. One process fetches it while others wait.
 *
 * @throws an Error that names the package and the problem; the cache is unchanged
 */
export async function fillCache(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  upstream: Upstream,
  context: { readonly signal: AbortSignal; readonly log: LogLine; readonly keepUntil: number },
): Promise<CachedPackage> {
  await using _lock = await lockPackage(options, one, context);
  const there = await cachedPackage(options, one);
  if (there) {
    await keepPackage(options, there, context.keepUntil);
    return there;
  }
  await removeUnfinished(options, one);
  const work = join(options.folder, 'unfinished', `${keyOf(one)}.${randomUUID()}`);
  await mkdir(work, { mode: 0o700 });
  try {
    return await fetchAndUnpack(options, one, upstream, { ...context, work });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Removes what a killed process left of this package; requires its lock. */
async function removeUnfinished({ folder }: ProviderCacheOptions, one: ProviderPackage): Promise<void> {
  const unfinished = join(folder, 'unfinished');
  for (const name of await readdir(unfinished))
    if (name.startsWith(`${keyOf(one)}.`)) await rm(join(unfinished, name), { recursive: true, force: true });
}

async function lockPackage(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  context: { signal: AbortSignal; log: LogLine },
): Promise<FolderLock> {
  const folder = join(options.folder, 'locks', keyOf(one));
  for (let isFirst = true; ; isFirst = false) {
    context.signal.throwIfAborted();
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
      if (isFirst) context.log(`Provider ${nameOf(one)} is being fetched for another run; waiting for it`);
      await delay(lockPollMilliseconds, undefined, { signal: context.signal });
    }
  }
}

async function fetchAndUnpack(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  upstream: Upstream,
  context: {
    readonly signal: AbortSignal;
    readonly log: LogLine;
    readonly keepUntil: number;
    readonly work: string;
  },
): Promise<CachedPackage> {
  const startedAt = performance.now();
  context.log(`Fetching provider ${nameOf(one)} for ${one.platform} into the agent's cache`);
  const zip = join(context.work, 'package.zip');
  const unpacked = join(context.work, 'unpacked');
  const fetched = await fetchPackage(upstream, one, zip, context.signal);
  await mkdir(unpacked, { mode: 0o755 });
  try {
    await unpackZip(zip, unpacked);
  } catch (error) {
    throw new Error(
      `provider ${nameOf(one)} for ${one.platform} cannot be unpacked: ${(error as Error).message}; nothing was installed`,
      {
        cause: error,
      },
    );
  }
  await rm(zip);
  await makeReadOnly(unpacked);
  const { keys, hashes } = fetched;
  const bytes = await sizeBelow(unpacked);
  const found: CachedPackage = {
    ...one,
    directoryHash: await directoryHash(unpacked),
    hashes,
    keys,
    bytes,
    keepUntil: context.keepUntil,
    usedAt: Date.now(),
  };
  // The record comes first: a visible package always has one.
  await writeRecord(options, found);
  await appear(unpacked, packageFolder(options, one));
  const signed = keys.length === 0 ? 'checksum verified' : `checksum verified, signed by ${keys.join(', ')}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  context.log(
    `Fetched provider ${nameOf(one)}: ${(fetched.bytes / 1e6).toFixed(1)} MB in ${seconds} s, ${signed}`,
  );
  return found;
}

async function appear(unpacked: string, target: string): Promise<void> {
  await makePassable(dirname(target));
  try {
    await rename(unpacked, target);
  } catch (error) {
    // A process outside the lock's scope was faster: its package was checked as well.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  await syncFolder(dirname(target));
}

/** Readable for runs and writable for no one, whatever the agent's umask. */
async function makeReadOnly(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isProgram = entry.isFile() && ((await stat(path)).mode & 0o100) !== 0;
    await chmod(path, entry.isDirectory() ? 0o755 : isProgram ? 0o555 : 0o444);
  }
}

async function makePassable(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o755 });
  if (first === undefined) return;
  for (let one = folder; one.length >= first.length; one = dirname(one)) await chmod(one, 0o755);
}

async function sizeBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name))),
  );
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
