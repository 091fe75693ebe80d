/**
 * An init whose providers come from the agent's cache. The tool fails if packages are missing there; they are
 * then fetched and verified once for all runs, and init is repeated. The tool thus still applies its own
 * rules for choosing versions. Other runs that use the result of an init get the same packages linked again.
 */
import { appendFileSync, createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';
import type { AttemptContext } from '../attempt/attempt-context.ts';
import { type CommandEnd, outputSince } from '../attempt/run-command.ts';
import type { InstalledPackage } from '../drivers/interface/capabilities.ts';
import {
  completeLockFile,
  type LockedProvider,
  lockFileName,
  readLockFile,
} from '../drivers/terraform/lock-file.ts';
import { ownPlatform } from '../own/own-platform.ts';
import { RunFailure } from '../processes/failure.ts';
import { fillCache } from './fill-cache.ts';
import {
  type CachedPackage,
  cachedPackage,
  dropPackage,
  isIntact,
  keepPackage,
  makeRoom,
  openProviderCache,
  type ProviderCacheOptions,
  packageFolder,
  packagesFolder,
  readCache,
} from './provider-cache.ts';
import { isSound, nameOf, type ProviderPackage } from './provider-package.ts';
import type { Upstream } from './registry-client.ts';
import type { RegistryProxy } from './registry-proxy.ts';

/** One round finds all missing packages; another is for changes in the meantime. */
const maxRounds = 3;

export interface ProviderInstallation {
  readonly attempt: AttemptContext;
  readonly cache: ProviderCacheOptions;
  readonly proxy: RegistryProxy;
  /** The sources of packages, by host. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly step: string;
  /** The configuration's folder. */
  readonly folder: string;
  /** Whether there is a lock file, from the code or an earlier init. */
  readonly hasLockFile: boolean;
  readonly signal: AbortSignal;
  /** Runs the tool's init once, with its output in the specified file. */
  readonly start: (log: string) => Promise<CommandEnd>;
}

/**
 * @returns the end of the last init
 * @throws RunFailure that names a provider that could not be obtained, or whose files or checksums do not
 * match
 */
export async function installThroughCache(installing: ProviderInstallation): Promise<CommandEnd> {
  const { attempt, cache, step } = installing;
  const { end, hasFetched } = await runRounds(installing);
  if (hasFetched)
    await makeRoom(cache).catch((error: unknown) =>
      attempt.steps.warn(step, `the provider cache cannot be cleaned up: ${(error as Error).message}`),
    );
  return end;
}

async function runRounds(
  installing: ProviderInstallation,
): Promise<{ end: CommandEnd; hasFetched: boolean }> {
  if (!existsSync(packagesFolder(installing.cache.folder))) await openProviderCache(installing.cache.folder);
  await using _reading = await readCache(installing.cache);
  for (let round = 1; ; round += 1) {
    if (installing.hasLockFile || round > 1) {
      const locked = await checkLock(installing);
      await completeLock(installing, locked);
    }
    const { end, missing } = await runOnce(installing, round);
    if (missing === null) return { end, hasFetched: round > 1 };
    await fetchAll(installing, missing);
  }
}

/** @returns the packages to fetch before the next round; null if this was the last round */
async function runOnce(
  installing: ProviderInstallation,
  round: number,
): Promise<{ end: CommandEnd; missing: ProviderPackage[] | null }> {
  const { attempt, proxy, step, start } = installing;
  const log = attempt.spool.scratchFile(`init-${round}.log`);
  rmSync(log, { force: true });
  const end = await start(log);
  const [missing, problems] = [proxy.takeMissing(), proxy.takeProblems()];
  const hasFailed = end.exitCode !== 0 && end.stop === null;
  const isRepaired =
    hasFailed &&
    missing.length === 0 &&
    reportsDamage(outputSince(log, 0)) &&
    (await removeDamaged(installing));
  const continues = hasFailed && (missing.length > 0 || isRepaired) && round < maxRounds;
  // Errors that the next round resolves are not shown.
  const stepLog = attempt.spool.stepLog(step);
  if (continues) appendFileSync(stepLog, await beforeErrors(log), { mode: 0o600 });
  else if (existsSync(log))
    await pipeline(createReadStream(log), createWriteStream(stepLog, { flags: 'a', mode: 0o600 }));
  for (const problem of problems) attempt.steps.warn(step, problem);
  if (end.exitCode === 0 && proxy.isUsed()) await settleProviders(installing);
  if (hasFailed && missing.length === 0 && problems.length > 0) throw new RunFailure(problems.join('\n'));
  return { end, missing: continues ? missing : null };
}

async function fetchAll(
  { attempt, cache, upstreams, step, signal }: ProviderInstallation,
  missing: readonly ProviderPackage[],
): Promise<void> {
  const context = {
    signal,
    log: (text: string) => attempt.steps.log(step, text),
    keepUntil: keepUntil(attempt),
  };
  const results = await Promise.allSettled(
    missing.map(async (one) => {
      const upstream = upstreams.get(one.host);
      if (!upstream) throw new Error(`provider ${nameOf(one)}: its registry is unknown`);
      await fillCache(cache, one, upstream, context);
    }),
  );
  attempt.stop.throwIfStopped();
  const problems = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as Error).message] : [],
  );
  if (problems.length > 0)
    throw new RunFailure(problems.join('\n'), { result: 'failed', failedCommand: 'init' });
}

// The tools wrap and frame their messages.
function reportsDamage(output: string): boolean {
  const text = stripVTControlCharacters(output).replaceAll(/[│╷╵\s]+/g, ' ');
  return /match any of (the )?checksums/.test(text);
}

/** No init that misses packages prints more before its errors. */
const shownBytes = 1_000_000;

/** The output before the first error and its frame. */
async function beforeErrors(log: string): Promise<string> {
  if (!existsSync(log)) return '';
  const pieces: Buffer[] = [];
  for await (const piece of createReadStream(log, { end: shownBytes })) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString('utf8');
  let at = 0;
  for (const line of text.split('\n')) {
    if (/^[│╷\s]*(Error: |╷$)/.test(stripVTControlCharacters(line))) return text.slice(0, at);
    at += line.length + 1;
  }
  return text;
}

type LockTarget = Pick<ProviderInstallation, 'attempt' | 'cache' | 'upstreams' | 'step' | 'folder'>;

interface LockedPackage {
  readonly one: CachedPackage;
  readonly provider: LockedProvider;
}

/**
 * When a package may be removed: after this phase and an apply in the same tree, which is kept no longer than the
 * phase may last; milliseconds since 1970.
 */
function keepUntil({ job }: Pick<AttemptContext, 'job'>): number {
  const { runSeconds, abortSeconds } = job.limits;
  return Date.now() + 2 * (runSeconds + abortSeconds + 60) * 1000;
}

/**
 * With a lock file that only contains checksums of archives, the tools would accept any unpacked package.
 * @throws RunFailure if the lock file contains none of a package's checksums
 */
async function checkLock(target: LockTarget): Promise<readonly LockedPackage[]> {
  const locked = await lockedPackages(target);
  for (const { one, provider } of locked) {
    const verified = [one.directoryHash, ...one.hashes];
    if (provider.hashes.length === 0 || provider.hashes.some((hash) => verified.includes(hash))) continue;
    throw new RunFailure(
      `provider ${nameOf(one)}: none of the checksums in ${lockFileName} is signed by its registry; correct the lock file ("init -upgrade" writes it again)`,
    );
  }
  return locked;
}

/** Adds the checksums that registries sign; an approved lock file is not changed. */
async function completeLock(target: LockTarget, locked: readonly LockedPackage[]): Promise<void> {
  const { attempt, folder, step } = target;
  const text = attempt.job.phase === 'apply' || locked.length === 0 ? null : await lockText(target);
  if (text === null) return;
  const completed = completeLockFile(text, (provider) => {
    const found = locked.find(
      ({ provider: one }) => one.source === provider.source && one.version === provider.version,
    )?.one;
    return found ? [found.directoryHash, ...found.hashes] : null;
  });
  if (completed === null) return;
  await attempt.tree.write(folder, lockFileName, completed);
  attempt.steps.log(step, `Added the checksums signed by the registries to ${lockFileName}`);
}

/**
 * After an init: keeps the packages in use, verifies their files, and adds their checksums to the lock file.
 * @throws RunFailure if the tool has linked files that differ from the verified ones
 */
async function settleProviders(target: LockTarget): Promise<void> {
  const locked = await lockedPackages(target);
  const until = keepUntil(target.attempt);
  for (const { one, provider } of locked) {
    if (
      !provider.hashes.some((hash) => hash.startsWith('h1:')) ||
      provider.hashes.includes(one.directoryHash)
    ) {
      await keepPackage(target.cache, one, until);
      continue;
    }
    // A different build, from the operator or the run.
    if (await isIntact(target.cache, one)) continue;
    await dropPackage(target.cache, one);
    throw new RunFailure(
      `provider ${nameOf(one)}: its files in the agent's cache differ from the verified ones and were removed: deploy again`,
    );
  }
  await completeLock(target, locked);
}

/** Removes packages whose files differ from the verified ones. @returns whether there were any */
async function removeDamaged(target: LockTarget): Promise<boolean> {
  let isRemoved = false;
  for (const { one } of await lockedPackages(target)) {
    if (await isIntact(target.cache, one)) continue;
    await dropPackage(target.cache, one);
    target.attempt.steps.warn(
      target.step,
      `provider ${nameOf(one)}: its files in the agent's cache differ from the verified ones; fetching them again`,
    );
    isRemoved = true;
  }
  return isRemoved;
}

async function lockText({ attempt, folder }: LockTarget): Promise<string | null> {
  // One that cannot be read is reported by the plan, which needs it too.
  const bytes = await attempt.tree.read(folder, lockFileName, 10_000_000).catch(() => null);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

async function lockedPackages(target: LockTarget): Promise<LockedPackage[]> {
  const text = await lockText(target);
  const providers = readLockFile(text ?? '');
  const found = await Promise.all(
    providers.map(async (provider) => {
      const [host = '', namespace = '', type = ''] = provider.source.split('/');
      const wanted = { host, namespace, type, version: provider.version, platform: ownPlatform };
      const one =
        target.upstreams.has(host) && isSound(wanted) ? await cachedPackage(target.cache, wanted) : null;
      return one === null ? [] : [{ one, provider }];
    }),
  );
  return found.flat();
}

export interface LinkedPackage extends InstalledPackage {
  /** Of the files that the run has linked. */
  readonly directoryHash: string;
}

/**
 * @param folder the configuration's folder
 * @returns the packages with their hashes; null if one of them is not a link to the cache
 */
export async function findLinked(
  { tree }: AttemptContext,
  cache: ProviderCacheOptions | null,
  folder: string,
  packages: readonly InstalledPackage[],
): Promise<LinkedPackage[] | null> {
  if (cache === null) return packages.length === 0 ? [] : null;
  const found = await Promise.all(
    packages.map(async (one) => {
      const isLinked = isSound(one) && (await tree.target(folder, one.path)) === packageFolder(cache, one);
      const cached = isLinked ? await cachedPackage(cache, one) : null;
      return cached === null ? [] : [{ ...one, directoryHash: cached.directoryHash }];
    }),
  );
  const linked = found.flat();
  return linked.length === packages.length ? linked : null;
}

/**
 * Links packages as an init does: none is removed during that time, and none while the run may use it.
 * @param folder the configuration's folder
 * @returns false, and links nothing, if the cache no longer has one of them
 */
export async function linkAgain(
  attempt: AttemptContext,
  cache: ProviderCacheOptions | null,
  folder: string,
  packages: readonly LinkedPackage[],
): Promise<boolean> {
  if (packages.length === 0) return true;
  if (cache === null) return false;
  await using _reading = await readCache(cache);
  const found = await Promise.all(
    packages.map(async (one) => {
      const cached = await cachedPackage(cache, one);
      return cached?.directoryHash === one.directoryHash ? [{ one, cached }] : [];
    }),
  );
  const all = found.flat();
  if (all.length < packages.length) return false;
  for (const { one, cached } of all) {
    await keepPackage(cache, cached, keepUntil(attempt));
    await attempt.tree.link(folder, one.path, packageFolder(cache, one));
  }
  return true;
}
