/**
 * Fetches one release of a tool into the cache: checksums, their signature, the archive, the program. The
 * release becomes visible only after every check.
 */
import { join } from 'node:path';
import { agentSettings } from '#settings/agent.ts';
import { readChecksums } from './checksums.ts';
import {
  type FetchLimits,
  FetchProblem,
  type FetchRequest,
  fetchBytes,
  fetchFile,
} from '../network/fetch-bounded.ts';
import { type Origin, type ToolchainOrder } from './tool-mirror.ts';
import type { ReleasePlace } from '#protocol/tools/tool.ts';
import {
  keepRelease,
  limitCache,
  lockRelease,
  newReleaseFolder,
  type ReleaseName,
  takeRelease,
} from './tool-cache.ts';
import { removeFolder, syncFolder } from '../spool/write-file.ts';
import { unpackProgram } from './unpack-program.ts';
import { BadSignature, shortKeyIds, type Signer, verifySignature } from './verify-signature.ts';

const megabyte = 1024 * 1024;
const smallLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 60, bytes: megabyte };
const archiveLimits: FetchLimits = { silenceSeconds: 30, wholeSeconds: 1800, bytes: 1024 * megabyte };

/** A release that could not be obtained from its mirror or publisher; one sentence for a person. */
export class ReleaseProblem extends Error {
  override readonly name = 'ReleaseProblem';
}

export interface FetchContext {
  readonly order: ToolchainOrder;
  readonly signal: AbortSignal;
  /** Receives lines for the step's log. */
  readonly log: (text: string) => void;
  /** Limits that replace those of the product, for tests. */
  readonly bounds?: Partial<FetchLimits>;
}

/**
 * Claims a release that the cache holds, so that it is not removed before this process ends.
 * @returns the path of the program, or null if the cache does not hold it
 */
export async function takeKept(context: FetchContext, release: ReleaseName): Promise<string | null> {
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
  origin: Origin,
  release: ReleaseName,
): Promise<string> {
  const { cacheFolder, cacheBytes } = context.order;
  const program = await takeOrFetch(context, origin, release);
  for (const removed of await limitCache(cacheFolder, cacheBytes))
    context.log(`Removed ${removed} from the tool cache: least recently used`);
  return program;
}

async function takeOrFetch(context: FetchContext, origin: Origin, release: ReleaseName): Promise<string> {
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
  origin: Origin,
  release: ReleaseName,
  folder: string,
): Promise<void> {
  const { program, version, platform } = release;
  const checksums = (await get(context, origin, origin.release.checksums(version))).body;
  const signer = await checkSignature(context, origin, version, checksums);
  const archive = origin.release.archive(version, platform);
  const expected = checksumOf(checksums, archive, release);
  const url = origin.url(archive);
  context.log(`Fetching ${url}`);
  const file = join(folder, 'archive');
  const fetched = await fetchFile(requestOf(context, origin, archive, archiveLimits), file);
  if (fetched.sha256 !== expected)
    throw new ReleaseProblem(
      `${url} does not match its checksum: SHA-256 ${fetched.sha256} instead of ${expected}, ${fetched.bytes} bytes`,
    );
  const { sha256, bytes } = await unpackProgram(file, program, join(folder, program)).catch(
    (cause: unknown) => {
      throw new ReleaseProblem(`${url}: ${(cause as Error).message}`, { cause });
    },
  );
  await removeFolder(file);
  await keepRelease(context.order.cacheFolder, release, folder, {
    version,
    sha256,
    bytes,
    origin: origin.name,
    key: signer.fingerprint,
  });
  await syncFolder(join(folder, '..'));
  context.log(
    `Checksum and signature are valid (key ${signer.fingerprint}, ${signer.name}); kept in the tool cache`,
  );
}

function checksumOf(
  checksums: Uint8Array,
  archive: ReleasePlace,
  { program, version, platform }: ReleaseName,
): string {
  const name = archive.path.slice(archive.path.lastIndexOf('/') + 1);
  const sums = readChecksums(new TextDecoder().decode(checksums));
  const expected = sums.get(name);
  if (expected !== undefined) return expected;
  const [before = '', after = ''] = name.split(platform);
  const others = [...sums.keys()]
    .filter((each) => each.startsWith(before) && each.endsWith(after))
    .map((each) => each.slice(before.length, each.length - after.length));
  throw new ReleaseProblem(
    `there is no ${program} ${version} for ${platform}${others.length === 0 ? '' : `, only for ${others.toSorted().join(', ')}`}: choose another version`,
  );
}

/** There may be several signatures, by keys of different years: the first one by a trusted key decides. */
async function checkSignature(
  context: FetchContext,
  origin: Origin,
  version: string,
  checksums: Uint8Array,
): Promise<Signer> {
  const url = origin.url(origin.release.checksums(version));
  const places = origin.release.signatures(version, await shortKeyIds(origin.publicKeys));
  let problem = `${url} has no signature`;
  for (const place of places) {
    const signature = await get(context, origin, place).catch((error: unknown) => {
      if (error instanceof FetchProblem && (error.status === 404 || error.status === 403)) return null;
      throw error;
    });
    if (!signature) continue;
    try {
      return await verifySignature(checksums, signature.body, origin.publicKeys);
    } catch (error) {
      if (!(error instanceof BadSignature)) throw error;
      problem = `the signature ${origin.url(place)} is not valid for the checksums: ${error.message}`;
      if (!error.isOtherKey) break;
    }
  }
  throw new ReleaseProblem(`${problem}; nothing was installed`);
}

function get(context: FetchContext, origin: Origin, place: ReleasePlace) {
  return fetchBytes(requestOf(context, origin, place, smallLimits));
}

function requestOf(
  { signal, bounds }: FetchContext,
  origin: Origin,
  place: ReleasePlace,
  limits: FetchLimits,
): FetchRequest {
  return { url: origin.url(place), headers: origin.headers, limits: { ...limits, ...bounds }, signal };
}

function asProblem(
  error: unknown,
  { program, version }: ReleaseName,
  origin: Origin,
  cacheFolder: string,
): unknown {
  if (error instanceof FetchProblem) {
    const isMissing = error.status === 404 || error.status === 403;
    return new ReleaseProblem(
      isMissing ? `${origin.name} has no ${program} ${version}: ${error.message}` : error.message,
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
