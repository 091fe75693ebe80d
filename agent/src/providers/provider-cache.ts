/**
 * The agent's provider cache, which all its runs can read and none can write; `fill-cache.ts` adds packages to it.
 *
 *   packages/<host>/<namespace>/<type>/<version>/<platform>/   unpacked, in the layout of a filesystem_mirror
 *   records/<key>.json                                         the record of each, and how long it must remain
 *   locks/<key>/                                               held by the process that fetches it
 *   readers/<id>                                               the process of a tool's run that is choosing a package:
 *                                                              none is removed while it chooses
 *   unfinished/                                                packages being fetched or unpacked
 *
 * A package appears under its name by one rename, after its checksum was found in a list that the registry
 * has signed.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeFolders } from '#guards/make-folders.ts';
import { isHeld, ownMark } from './held-marks.ts';
import type { ProviderPackage } from './provider-package.ts';

/** The record of a cached package. */
export interface CachedPackage extends ProviderPackage {
  /** `h1:…` of the unpacked files. */
  readonly directoryHash: string;
  /** All hashes that the registry vouches for, `zh:…` of every platform. */
  readonly hashes: readonly string[];
  readonly keys: readonly string[];
  /** The unpacked size. */
  readonly bytes: number;
  /** A run may use it until this time, in milliseconds since 1970. */
  readonly keepUntil: number;
  readonly usedAt: number;
}

export interface ProviderCacheOptions {
  readonly folder: string;
  /** Above this size, unused packages are removed, the least recently used first. */
  readonly limitBytes: number;
}

/** For so long, no init of another machine runs; and nothing changes in a package that is being fetched or unpacked. */
const leftMilliseconds = { readers: 24 * 3600 * 1000, unfinished: 600_000 } as const;

/** Creates the folders and removes what killed processes left. */
export async function openProviderCache(folder: string): Promise<void> {
  makeFolders(folder, 0o755);
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

/** Removes what killed processes left. */
async function removeLeft(folder: string): Promise<void> {
  for (const name of await readdir(join(folder, 'unfinished'))) {
    const path = join(folder, 'unfinished', name);
    const isLeft = (await changedAt(path)) < Date.now() - leftMilliseconds.unfinished;
    if (isLeft) await rm(path, { recursive: true, force: true });
  }
  for (const name of await readdir(join(folder, 'readers'))) {
    const marker = join(folder, 'readers', name);
    if (!(await isHeld(marker, leftMilliseconds.readers))) await rm(marker, { force: true });
  }
}

/** When anything in a folder was last changed, or a file, in milliseconds since 1970. */
async function changedAt(path: string): Promise<number> {
  const below = await readdir(path, { recursive: true }).catch(() => []);
  const times = await Promise.all(
    [path, ...below.map((name) => join(path, name))].map(async (each) =>
      // Missing packages have just been changed.
      stat(each).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity,
      ),
    ),
  );
  return Math.max(...times);
}

/** Prevents removal of packages until disposed, while a tool chooses among them. */
export async function readCache({ folder }: ProviderCacheOptions): Promise<AsyncDisposable> {
  const marker = join(folder, 'readers', randomUUID());
  await writeFile(marker, ownMark(), { mode: 0o600 });
  return { [Symbol.asyncDispose]: () => rm(marker, { force: true }) };
}

/** The folder for a tool's filesystem_mirror. */
export function packagesFolder(folder: string): string {
  return join(folder, 'packages');
}

/** The folder of a cached package. */
export function packageFolder({ folder }: ProviderCacheOptions, one: ProviderPackage): string {
  return join(packagesFolder(folder), one.host, one.namespace, one.type, one.version, one.platform);
}

function recordOf({ folder }: ProviderCacheOptions, one: ProviderPackage): string {
  return join(folder, 'records', `${keyOf(one)}.json`);
}

/** A package's name in records, locks and temporary folders. */
export function keyOf({ host, namespace, type, version, platform }: ProviderPackage): string {
  return createHash('sha256').update([host, namespace, type, version, platform].join('\n')).digest('hex');
}

/** @returns the record of a package; null if it is not cached */
export async function cachedPackage(
  options: ProviderCacheOptions,
  one: ProviderPackage,
): Promise<CachedPackage | null> {
  if (!existsSync(packageFolder(options, one))) return null;
  return readRecord(recordOf(options, one));
}

/** The cached versions of a provider for a platform. */
export async function cachedVersions(
  options: ProviderCacheOptions,
  one: Omit<ProviderPackage, 'version'>,
): Promise<string[]> {
  const folder = join(packagesFolder(options.folder), one.host, one.namespace, one.type);
  const versions = await readdir(folder).catch(() => []);
  return versions.filter((version) => existsSync(join(folder, version, one.platform)));
}

/** Records that a run may use a package until a time, in milliseconds since 1970. */
export async function keepPackage(
  options: ProviderCacheOptions,
  one: CachedPackage,
  until: number,
): Promise<void> {
  await writeRecord(options, { ...one, usedAt: Date.now(), keepUntil: Math.max(one.keepUntil, until) });
}

/** Whether a package's files still match the verified ones. */
export async function isIntact(options: ProviderCacheOptions, one: CachedPackage): Promise<boolean> {
  return (await directoryHash(packageFolder(options, one)).catch(() => null)) === one.directoryHash;
}

/** Removes a package whose files differ from the verified ones. */
export async function dropPackage(options: ProviderCacheOptions, one: ProviderPackage): Promise<void> {
  const away = join(options.folder, 'unfinished', randomUUID());
  await rename(packageFolder(options, one), away).catch(() => undefined);
  await rm(recordOf(options, one), { force: true });
  await rm(away, { recursive: true, force: true });
}

/** Removes unused packages, the least recently used first, until the cache is below its limit. */
export async function makeRoom(options: ProviderCacheOptions): Promise<void> {
  await removeLeft(options.folder);
  const names = await readdir(join(options.folder, 'records'));
  const files = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(options.folder, 'records', name));
  const known = (await Promise.all(files.map(readRecord))).filter((record) => record !== null);
  let total = known.reduce((sum, { bytes }) => sum + bytes, 0);
  const removable = known.filter((record) => record.keepUntil < Date.now());
  for (const record of removable.sort((left, right) => left.usedAt - right.usedAt)) {
    if (total <= options.limitBytes && (await hasSpace(options.folder))) return;
    if ((await readdir(join(options.folder, 'readers'))).length > 0) return;
    // A run records its chosen packages before it stops being a reader.
    const { keepUntil } = (await readRecord(recordOf(options, record))) ?? record;
    if (keepUntil >= Date.now()) continue;
    await dropPackage(options, record);
    total -= record.bytes;
  }
}

/** Whether a twentieth of the disk is free. */
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

/** Writes the record of a package. */
export async function writeRecord(options: ProviderCacheOptions, record: CachedPackage): Promise<void> {
  const file = recordOf(options, record);
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, JSON.stringify(record), { mode: 0o600, flush: true });
  await rename(unfinished, file);
}

/**
 * The hash of lock files: over a package's unpacked files, whatever their order and modes.
 * @returns `h1:` and the hash of the relative names and contents of all files below a folder
 */
export async function directoryHash(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const whole = createHash('sha256');
  // Sorted by bytes, as in the tools.
  for (const name of names.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))) {
    whole.update(`${await fileHash(join(folder, name))}  ${name}\n`);
  }
  return `h1:${whole.digest('base64')}`;
}

async function fileHash(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
