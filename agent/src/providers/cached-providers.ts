/** Checks the cached packages that a configuration's lock file names: their files and checksums. */

import type { AttemptContext } from '../attempt/attempt-context.ts';
import {
  completeLockFile,
  type LockedProvider,
  lockFileName,
  readLockFile,
} from '../drivers/terraform/lock-file.ts';
import { ownPlatform } from '../own/own-platform.ts';
import { RunFailure } from '../processes/failure.ts';
import {
  type CachedPackage,
  cachedPackage,
  dropPackage,
  isIntact,
  keepPackage,
  type ProviderCacheOptions,
} from './provider-cache.ts';
import { isSound, nameOf } from './provider-package.ts';
import type { Upstream } from './registry-client.ts';

interface LockTarget {
  readonly attempt: AttemptContext;
  readonly cache: ProviderCacheOptions;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly step: string;
  /** The configuration's folder. */
  readonly folder: string;
}

interface Locked {
  readonly one: CachedPackage;
  readonly provider: LockedProvider;
}

/**
 * When a package may be removed: after this phase and an apply in the same tree, which is kept no longer than the
 * phase may last; milliseconds since 1970.
 */
export function keepUntil({ job }: Pick<AttemptContext, 'job'>): number {
  const { runSeconds, abortSeconds } = job.limits;
  return Date.now() + 2 * (runSeconds + abortSeconds + 60) * 1000;
}

/**
 * With a lock file that only contains checksums of archives, the tools would accept any unpacked package.
 * @throws RunFailure if the lock file contains none of a package's checksums
 */
export async function checkLock(target: LockTarget): Promise<readonly Locked[]> {
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
export async function completeLock(target: LockTarget, locked: readonly Locked[]): Promise<void> {
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
export async function settleProviders(target: LockTarget): Promise<void> {
  const locked = await lockedPackages(target);
  for (const { one, provider } of locked) {
    if (
      !provider.hashes.some((hash) => hash.startsWith('h1:')) ||
      provider.hashes.includes(one.directoryHash)
    ) {
      await keepPackage(target.cache, one, keepUntil(target.attempt));
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
export async function removeDamaged(target: LockTarget): Promise<boolean> {
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

async function lockedPackages(target: LockTarget): Promise<Locked[]> {
  const providers = readLockFile((await lockText(target)) ?? '');
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
