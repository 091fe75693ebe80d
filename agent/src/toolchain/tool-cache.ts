/**
 * The cache of fetched tools, shared by the runs of every agent that has the same folder:
 *
 *   releases/<program>_<version>_<platform>/   complete or absent: created under another name, then renamed
 *     <program>          mode 0555; its hash is checked again whenever the file is not the one that was written;
 *                        for packages a link into their environment
 *     <other programs>   the same
 *     release.json       what was checked when it was fetched
 *     used               its time is the last use by a run
 *     uses/<id>.json     the process of each run that uses it, which prevents removal
 *   environments/<id>/   packages of Python; in use once a release names it
 *   locks/<release>/     one process at a time fetches, claims or removes a release
 *   indices/             cached answers of indices
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FolderLock, FolderLockedError, lockFolder } from '#guards/folder-lock.ts';
import { isHeld, ownMark } from '../providers/held-marks.ts';
import { removeFolder, writeJson, writeJsonDurably } from '../spool/write-file.ts';

/** The record of a cached release. */
export interface ReleaseRecord {
  readonly version: string;
  /** Of the program, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** Its origin, without credentials. */
  readonly origin: string;
  /** Fingerprint of the key that signed its checksum; absent: nothing is signed. */
  readonly key?: string;
  /** Name of its environment, for packages. */
  readonly environment?: string;
  /** SHA-256 of the other programs that it brings, by the names of their files. */
  readonly others?: Readonly<Record<string, string>>;
  /** Changes whenever one of the files changes. */
  readonly stamp: string;
}

export interface ReleaseName {
  readonly program: string;
  readonly version: string;
  readonly platform: string;
}

const lockPollMilliseconds = 25;
/** No fetch takes this long: older files were left by a killed one. */
const leftoverMilliseconds = 2 * 3_600_000;
/** No run takes this long: a mark whose process cannot be checked expires after it. */
const strangersMarkMilliseconds = 7 * 86_400_000;

function releasesFolder(cacheFolder: string): string {
  return join(cacheFolder, 'releases');
}

/** @param name as `newEnvironment` returned it */
export function environmentFolder(cacheFolder: string, name: string): string {
  return join(cacheFolder, 'environments', name);
}

export function indicesFolder(cacheFolder: string): string {
  return join(cacheFolder, 'indices');
}

function folderName({ program, version, platform }: ReleaseName): string {
  return `${program}_${version}_${platform}`;
}

function releaseFolder(cacheFolder: string, release: ReleaseName): string {
  return join(releasesFolder(cacheFolder), folderName(release));
}

/** The cached versions of a program for a platform, in no particular order. */
export async function keptVersions(
  cacheFolder: string,
  program: string,
  platform: string,
): Promise<string[]> {
  const names = await readdir(releasesFolder(cacheFolder)).catch(none);
  const [start, end] = [`${program}_`, `_${platform}`];
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => name.slice(start.length, -end.length));
}

/**
 * Waits until this process has exclusive access to a release.
 * @param onWait called once if another process has it
 * @throws the signal's reason
 */
export async function lockRelease(
  cacheFolder: string,
  release: ReleaseName,
  signal: AbortSignal,
  onWait: () => void,
): Promise<FolderLock> {
  let hasWaited = false;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await lockFolder(join(cacheFolder, 'locks', folderName(release)));
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error;
    }
    if (!hasWaited) onWait();
    hasWaited = true;
    await delay(lockPollMilliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Claims a release for this process, under its lock, so that it is not removed before the process ends.
 * @returns the path of its program; null if the cache does not hold it, or no longer holds what was checked
 */
export async function takeRelease(cacheFolder: string, release: ReleaseName): Promise<string | null> {
  const folder = releaseFolder(cacheFolder, release);
  if (!(await stat(folder).catch(() => null))) return null;
  const record = await readRecord(folder);
  const program = join(folder, release.program);
  if (!record || !(await isUnchanged(folder, release.program, record))) {
    await discard(cacheFolder, folder);
    return null;
  }
  await markUse(folder);
  return program;
}

async function isUnchanged(folder: string, program: string, record: ReleaseRecord): Promise<boolean> {
  const hashes = { [program]: record.sha256, ...record.others };
  const stamp = await stampOf(folder, Object.keys(hashes)).catch(() => null);
  if (stamp === null) return false;
  if (stamp === record.stamp) return true;
  for (const [name, sha256] of Object.entries(hashes))
    if ((await hashOf(join(folder, name))) !== sha256) return false;
  // The same bytes in a copied folder.
  writeJson(join(folder, 'release.json'), { ...record, stamp });
  return true;
}

async function markUse(folder: string): Promise<void> {
  const uses = join(folder, 'uses');
  await mkdir(uses, { recursive: true, mode: 0o755 });
  for (const mark of await readdir(uses))
    if (!(await isHeld(join(uses, mark), strangersMarkMilliseconds)))
      await rm(join(uses, mark), { force: true });
  await writeFile(join(uses, `${randomUUID()}.json`), ownMark());
  await writeFile(join(folder, 'used'), '');
  const now = new Date();
  await utimes(join(folder, 'used'), now, now);
}

/** A folder in the cache for building a release. Those left by killed fetches are removed. */
export async function newReleaseFolder(cacheFolder: string): Promise<string> {
  const releases = releasesFolder(cacheFolder);
  await makeReadable(releases);
  for (const name of (await readdir(releases)).filter((each) => each.startsWith('.')))
    await removeLeft(join(releases, name));
  const folder = join(releases, `.new-${randomUUID()}`);
  await makeReadable(folder);
  return folder;
}

async function removeLeft(folder: string): Promise<void> {
  const changed = (await stat(folder).catch(() => null))?.mtimeMs ?? Date.now();
  if (Date.now() - changed > leftoverMilliseconds) await removeFolder(folder);
}

/**
 * A folder for packages, which stays where it is. Those that no release names, because their installation was
 * killed, are removed.
 * @returns its name
 */
export async function newEnvironment(cacheFolder: string): Promise<string> {
  const all = join(cacheFolder, 'environments');
  await makeReadable(all);
  const records = await Promise.all(
    (await readdir(releasesFolder(cacheFolder)).catch(none)).map((name) =>
      readRecord(join(releasesFolder(cacheFolder), name)),
    ),
  );
  const named = new Set(records.map((record) => record?.environment));
  for (const name of await readdir(all)) if (!named.has(name)) await removeLeft(join(all, name));
  const name = randomUUID();
  await makeReadable(join(all, name));
  return name;
}

/** Makes a folder readable for runs under other users, whatever this process's umask is. */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
}

/** Turns a built folder into the release, unless another process was first. */
export async function keepRelease(
  cacheFolder: string,
  release: ReleaseName,
  built: string,
  facts: Omit<ReleaseRecord, 'stamp'>,
): Promise<void> {
  const stamp = await stampOf(built, [release.program, ...Object.keys(facts.others ?? {})]);
  await writeJsonDurably(join(built, 'release.json'), { ...facts, stamp });
  try {
    await rename(built, releaseFolder(cacheFolder, release));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    if (facts.environment !== undefined)
      await removeFolder(environmentFolder(cacheFolder, facts.environment));
    await removeFolder(built);
  }
}

/**
 * Removes the least recently used releases until the cache is within its size limit, except for releases in
 * use.
 * @returns names of the removed releases
 */
export async function limitCache(cacheFolder: string, bytes: number): Promise<string[]> {
  const releases = await listReleases(cacheFolder);
  let total = releases.reduce((sum, release) => sum + release.bytes, 0);
  const removed: string[] = [];
  for (const { folder, name, bytes: size } of releases.toSorted(
    (left, right) => left.usedAt - right.usedAt,
  )) {
    if (total <= bytes) break;
    if (!(await removeUnused(cacheFolder, folder, name))) continue;
    total -= size;
    removed.push(name);
  }
  return removed;
}

async function listReleases(
  cacheFolder: string,
): Promise<{ name: string; folder: string; bytes: number; usedAt: number }[]> {
  const found = [];
  for (const name of await readdir(releasesFolder(cacheFolder)).catch(none)) {
    const folder = join(releasesFolder(cacheFolder), name);
    const record = name.startsWith('.') ? null : await readRecord(folder);
    const used = await stat(join(folder, 'used')).catch(() => stat(folder).catch(() => null));
    if (record && used) found.push({ name, folder, bytes: record.bytes, usedAt: used.mtimeMs });
  }
  return found;
}

async function removeUnused(cacheFolder: string, folder: string, name: string): Promise<boolean> {
  let lock: FolderLock;
  try {
    lock = await lockFolder(join(cacheFolder, 'locks', name));
  } catch (error) {
    if (error instanceof FolderLockedError) return false;
    throw error;
  }
  await using _lock = lock;
  const uses = join(folder, 'uses');
  for (const mark of await readdir(uses).catch(none))
    if (await isHeld(join(uses, mark), strangersMarkMilliseconds)) return false;
  await discard(cacheFolder, folder);
  return true;
}

/** Readers see the complete release or nothing. */
async function discard(cacheFolder: string, folder: string): Promise<void> {
  const environment = (await readRecord(folder))?.environment;
  const old = join(releasesFolder(cacheFolder), `.old-${randomUUID()}`);
  await rename(folder, old);
  if (environment !== undefined) await removeFolder(environmentFolder(cacheFolder, environment));
  await removeFolder(old);
}

async function readRecord(folder: string): Promise<ReleaseRecord | null> {
  try {
    return JSON.parse(await readFile(join(folder, 'release.json'), 'utf8')) as ReleaseRecord;
  } catch {
    return null;
  }
}

async function stampOf(folder: string, names: readonly string[]): Promise<string> {
  const stamps = names.map(async (name) => {
    const { ino, size, mtimeMs, ctimeMs, mode } = await stat(join(folder, name));
    return [ino, size, mtimeMs, ctimeMs, mode].join(' ');
  });
  return (await Promise.all(stamps)).join(', ');
}

/** SHA-256 in lower-case hex. */
export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece as Uint8Array);
  return hash.digest('hex');
}

function none(): string[] {
  return [];
}
