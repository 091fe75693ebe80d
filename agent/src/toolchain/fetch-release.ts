/** Fetches one release of a tool into the cache. The release becomes visible only after every check. */
import { join } from 'node:path';
import { agentSettings } from '#settings/agent.ts';
import { FetchProblem } from '../network/fetch-bounded.ts';
import { removeFolder, syncFolder } from '../spool/write-file.ts';
import { fetchArchive } from './fetch-archive.ts';
import { type FetchContext, ReleaseProblem } from './fetch-context.ts';
import { installPackages } from './install-packages.ts';
import {
  keepRelease,
  limitCache,
  lockRelease,
  newReleaseFolder,
  type ReleaseName,
  takeRelease,
} from './tool-cache.ts';
import type { ReleaseOrigin } from './tool-mirror.ts';

/**
 * Claims a release that the cache holds, so that it is not removed before this process ends.
 * @returns the path of the program, or null if the cache does not hold it
 */
export async function takeKept(
  context: Pick<FetchContext, 'order' | 'signal' | 'log'>,
  release: ReleaseName,
): Promise<string | null> {
  const { cacheFolder } = context.order;
  await using _lock = await lockRelease(cacheFolder, release, context.signal, () =>
    context.log(waiting(release)),
  );
  return takeRelease(cacheFolder, release);
}

/**
 * Claims a release in the cache, fetching it first if necessary. One process fetches while others wait for
 * it.
 * @returns the path of the program
 * @throws ReleaseProblem, the signal's reason, and errors of the file system
 */
export async function fetchRelease(
  context: FetchContext,
  origin: ReleaseOrigin,
  release: ReleaseName,
): Promise<string> {
  const { cacheFolder, cacheBytes } = context.order;
  const program = await takeOrFetch(context, origin, release);
  for (const removed of await limitCache(cacheFolder, cacheBytes))
    context.log(`Removed ${removed} from the tool cache: least recently used`);
  return program;
}

async function takeOrFetch(
  context: FetchContext,
  origin: ReleaseOrigin,
  release: ReleaseName,
): Promise<string> {
  const { cacheFolder } = context.order;
  await using _lock = await lockRelease(cacheFolder, release, context.signal, () =>
    context.log(waiting(release)),
  );
  const kept = await takeRelease(cacheFolder, release);
  if (kept !== null) return kept;
  let built: string | null = null;
  try {
    built = await newReleaseFolder(cacheFolder);
    await build(context, origin, release, built);
  } catch (error) {
    if (built !== null) await removeFolder(built);
    context.signal.throwIfAborted();
    throw asProblem(error, release, origin, cacheFolder);
  }
  const program = await takeRelease(cacheFolder, release);
  if (program === null)
    throw new Error(`${release.program} ${release.version} is missing from the cache after the fetch`);
  return program;
}

async function build(
  context: FetchContext,
  origin: ReleaseOrigin,
  release: ReleaseName,
  folder: string,
): Promise<void> {
  const source = origin.release;
  const { checked, ...built } =
    source.kind === 'archive'
      ? await fetchArchive(context, origin, source, release, folder)
      : await installPackages(context, origin, source, release, folder);
  await keepRelease(context.order.cacheFolder, release, folder, {
    ...built,
    version: release.version,
    origin: origin.name,
  });
  await syncFolder(join(folder, '..'));
  context.log(`${checked}; kept in the tool cache`);
}

function asProblem(
  error: unknown,
  { program, version }: ReleaseName,
  origin: ReleaseOrigin,
  cacheFolder: string,
): unknown {
  if (error instanceof FetchProblem) {
    const isMissing = error.status === 404 || error.status === 403;
    return new ReleaseProblem(
      isMissing
        ? `${origin.name} has no ${program} ${version}: ${error.message}; request another version, or put it there`
        : error.message,
      {
        cause: error,
      },
    );
  }
  if (error instanceof Error && 'syscall' in error)
    return new ReleaseProblem(
      `it cannot be kept in ${cacheFolder} (setting ${agentSettings.toolCacheFolder.name}): ${error.message}`,
      {
        cause: error,
      },
    );
  // Reasons for refusing checksums and keys; other kinds of errors are faults of this program.
  return error instanceof Error && error.name === 'Error'
    ? new ReleaseProblem(error.message, { cause: error })
    : error;
}

function waiting({ program, version }: ReleaseName): string {
  return `Another run is fetching ${program} ${version}: waiting for it`;
}
