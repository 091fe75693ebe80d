/** Packages of the agent's cache that an init has linked, for other runs that use its result. */

import type { AttemptContext } from '../attempt/attempt-context.ts';
import type { InstalledPackage } from '../drivers/interface/capabilities.ts';
import { keepUntil } from './install-providers.ts';
import {
  cachedPackage,
  keepPackage,
  type ProviderCacheOptions,
  packageFolder,
  readCache,
} from './provider-cache.ts';
import { isSound } from './provider-package.ts';

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
