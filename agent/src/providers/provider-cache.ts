/**
 * The agent's cache of providers, which all its runs read and none can write.
 *
 *   packages/<host>/<namespace>/<type>/<version>/<platform>/   unpacked, as a tool's filesystem_mirror wants it
 *   records/<key>.json                                         what is known of each, and until when it must stay
 *   locks/<key>/                                               held by whoever fetches it: one download per package
 *   readers/<id>                                               a tool is choosing among the packages: none goes meanwhile
 *   unfinished/                                                what is being fetched or unpacked
 *
 * A package appears under its name by one rename, after its checksum was found in a list that the registry has signed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FolderLockedError, type FolderLock, lockFolder } from '#protocol/folder-lock.ts';
import { syncFolder } from '../spool/write-file.ts';
import { directoryHash } from './directory-hash.ts';
import { nameOf, type ProviderPackage } from './provider-package.ts';
import { fetchPackage, type Upstream } from './registry-client.ts';
import { unpackZip } from './unpack-zip.ts';

/** What is known of a package that is in the cache. */
export interface CachedPackage extends ProviderPackage {
  /** `h1:…` of the unpacked files. */
  readonly directoryHash: string;
  /** All hashes that the registry vouches for, `zh:…` of every platform. */
  readonly hashes: readonly string[];
  readonly keys: readonly string[];
  /** Unpacked. */
  readonly bytes: number;
  /** Milliseconds since 1970; a run may use it until then. */
  readonly keepUntil: number;
  readonly usedAt: number;
}

export interface ProviderCacheOptions {
  readonly folder: string;
  /** Above this many bytes, packages that nobody can be using go, the longest unused first. */
  readonly limitBytes: number;
}

export type Say = (text: string) => void;

const lockPollMilliseconds = 50;
const unfinishedLifeMilliseconds = 24 * 3600 * 1000;

/** Makes the folders and clears what a killed process left unfinished. */
export async function openProviderCache(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await chmod(folder, 0o755);
  for (const [name, mode] of [
    ['packages', 0o755],
    ['records', 0o700],
    ['locks', 0o700],
    ['readers', 0o700],
    ['unfinished', 0o700],
  ] as const) {
    await mkdir(join(folder, name), { recursive: true, mode });
    await chmod(join(folder, name), mode);
  }
  await removeLeft(folder);
}

/** What killed processes have left: no fetch and no init lasts as long. */
async function removeLeft(folder: string): Promise<void> {
  for (const place of ['unfinished', 'readers']) {
    for (const name of await readdir(join(folder, place))) {
      const path = join(folder, place, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
      if (mtimeMs < Date.now() - unfinishedLifeMilliseconds) await rm(path, { recursive: true, force: true });
    }
  }
}

/** While it is held, no package goes: a tool chooses among those that are there. */
export async function readCache({ folder }: ProviderCacheOptions): Promise<AsyncDisposable> {
  const marker = join(folder, 'readers', randomUUID());
  await writeFile(marker, '', { mode: 0o600 });
  return { [Symbol.asyncDispose]: () => rm(marker, { force: true }) };
}

/** The folder that a tool's filesystem_mirror reads. */
export function packagesFolder(folder: string): string {
  return join(folder, 'packages');
}

function folderOf({ folder }: ProviderCacheOptions, one: ProviderPackage): string {
  return join(packagesFolder(folder), one.host, one.namespace, one.type, one.version, one.platform);
}

function recordOf({ folder }: ProviderCacheOptions, one: ProviderPackage): string {
  return join(folder, 'records', `${keyOf(one)}.json`);
}

function keyOf({ host, namespace, type, version, platform }: ProviderPackage): string {
  return createHash('sha256').update([host, namespace, type, version, platform].join('\n')).digest('hex');
}

/** @returns what is known of a package, or null where the cache does not have it */
export async function cachedPackage(options: ProviderCacheOptions, one: ProviderPackage): Promise<CachedPackage | null> {
  if (!existsSync(folderOf(options, one))) return null;
  return readRecord(recordOf(options, one));
}

/** Versions of a provider that the cache has for a platform. */
export async function cachedVersions(options: ProviderCacheOptions, one: Omit<ProviderPackage, 'version'>): Promise<string[]> {
  const folder = join(packagesFolder(options.folder), one.host, one.namespace, one.type);
  const versions = await readdir(folder).catch(() => []);
  return versions.filter((version) => existsSync(join(folder, version, one.platform)));
}

/** Says that a run may use a package until a moment, in milliseconds since 1970. */
export async function keepPackage(options: ProviderCacheOptions, one: CachedPackage, until: number): Promise<void> {
  await writeRecord(options, { ...one, usedAt: Date.now(), keepUntil: Math.max(one.keepUntil, until) });
}

/**
 * Brings a package into the cache unless it is there. Of several processes that want it one fetches it, the others wait.
 * @param say takes a line about what is done
 * @throws an Error that names the package and says what is wrong; the cache is as it was
 */
export async function fillCache(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  upstream: Upstream,
  context: { readonly signal: AbortSignal; readonly say: Say; readonly keepUntil: number },
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

/** What a killed process left of this package: nobody else is at it while the lock is held. */
async function removeUnfinished({ folder }: ProviderCacheOptions, one: ProviderPackage): Promise<void> {
  const unfinished = join(folder, 'unfinished');
  for (const name of await readdir(unfinished))
    if (name.startsWith(`${keyOf(one)}.`)) await rm(join(unfinished, name), { recursive: true, force: true });
}

async function lockPackage(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  context: { signal: AbortSignal; say: Say },
): Promise<FolderLock> {
  const folder = join(options.folder, 'locks', keyOf(one));
  for (let isFirst = true; ; isFirst = false) {
    context.signal.throwIfAborted();
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
      if (isFirst) context.say(`Provider ${nameOf(one)} is being fetched for another run; waiting for it`);
      await delay(lockPollMilliseconds, undefined, { signal: context.signal });
    }
  }
}

async function fetchAndUnpack(
  options: ProviderCacheOptions,
  one: ProviderPackage,
  upstream: Upstream,
  context: { readonly signal: AbortSignal; readonly say: Say; readonly keepUntil: number; readonly work: string },
): Promise<CachedPackage> {
  const startedAt = performance.now();
  context.say(`Fetching provider ${nameOf(one)} for ${one.platform} into the agent's cache`);
  const zip = join(context.work, 'package.zip');
  const unpacked = join(context.work, 'unpacked');
  const fetched = await fetchPackage(upstream, one, zip, context.signal);
  await mkdir(unpacked, { mode: 0o755 });
  try {
    await unpackZip(zip, unpacked);
  } catch (error) {
    throw new Error(
      `provider ${nameOf(one)} for ${one.platform} cannot be unpacked: ${(error as Error).message}; nothing of it was installed`,
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
  // The record first: what appears under its name is known from then on.
  await writeRecord(options, found);
  await appear(unpacked, folderOf(options, one));
  const signed = keys.length === 0 ? 'checksum verified' : `checksum verified, signed by ${keys.join(', ')}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  context.say(`Fetched provider ${nameOf(one)}: ${(fetched.bytes / 1e6).toFixed(1)} MB in ${seconds} s, ${signed}`);
  return found;
}

async function appear(unpacked: string, target: string): Promise<void> {
  await makePassable(dirname(target));
  try {
    await rename(unpacked, target);
  } catch (error) {
    // A process beyond the lock's reach was faster: what it put there was checked as well.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  await syncFolder(dirname(target));
}

/** Whatever the agent's umask says, runs read it and nobody changes it. */
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
  const sizes = await Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => stat(join(entry.parentPath, entry.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** Whether a package's files are still those that were verified. */
export async function isIntact(options: ProviderCacheOptions, one: CachedPackage): Promise<boolean> {
  return (await directoryHash(folderOf(options, one)).catch(() => null)) === one.directoryHash;
}

/** Takes a package out of the cache, whose files are not what was verified. */
export async function dropPackage(options: ProviderCacheOptions, one: ProviderPackage): Promise<void> {
  const away = join(options.folder, 'unfinished', randomUUID());
  await rename(folderOf(options, one), away).catch(() => undefined);
  await rm(recordOf(options, one), { force: true });
  await rm(away, { recursive: true, force: true });
}

/** Removes what nobody can be using, the longest unused first, until the limit holds. */
export async function makeRoom(options: ProviderCacheOptions): Promise<void> {
  await removeLeft(options.folder);
  const names = await readdir(join(options.folder, 'records'));
  const files = names.filter((name) => name.endsWith('.json')).map((name) => join(options.folder, 'records', name));
  const known = (await Promise.all(files.map(readRecord))).filter((record) => record !== null);
  let total = known.reduce((sum, { bytes }) => sum + bytes, 0);
  const removable = known.filter((record) => record.keepUntil < Date.now());
  for (const record of removable.sort((left, right) => left.usedAt - right.usedAt)) {
    if (total <= options.limitBytes && (await hasSpace(options.folder))) return;
    if ((await readdir(join(options.folder, 'readers'))).length > 0) return;
    // A run that has chosen meanwhile has said so before it went away as a reader.
    const { keepUntil } = (await readRecord(recordOf(options, record))) ?? record;
    if (keepUntil >= Date.now()) continue;
    await dropPackage(options, record);
    total -= record.bytes;
  }
}

/** A twentieth of the disk stays free as long as that can be had by forgetting. */
async function hasSpace(folder: string): Promise<boolean> {
  const { bavail, blocks } = await statfs(folder);
  return bavail * 20 > blocks;
}

async function readRecord(file: string): Promise<CachedPackage | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as CachedPackage;
  } catch {
    return null;
  }
}

async function writeRecord(options: ProviderCacheOptions, record: CachedPackage): Promise<void> {
  const file = recordOf(options, record);
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, JSON.stringify(record), { mode: 0o600, flush: true });
  await rename(unfinished, file);
}
