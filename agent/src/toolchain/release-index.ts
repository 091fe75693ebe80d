/**
 * The versions in the index of a publisher or mirror. An answer is cached for some minutes and then
 * revalidated by its tag; a failure is cached for a shorter time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { valid } from 'semver';
import { type FetchLimits, FetchProblem, fetchBytes } from '../network/fetch-bounded.ts';
import type { ReleaseOrigin } from './tool-mirror.ts';

const freshMilliseconds = 600_000;
const failureMilliseconds = 60_000;
const limits: FetchLimits = { silenceSeconds: 10, wholeSeconds: 60, bytes: 64 * 1024 * 1024 };
/** Of a list in parts: the interface of GitHub gives 1,000 releases, 100 in each. */
const maxPages = 10;

export type IndexAnswer = { readonly versions: readonly string[] } | { readonly problem: string };

interface StoredIndex {
  readonly url: string;
  readonly readAt: number;
  readonly etag?: string;
  readonly versions: readonly string[];
  readonly failure?: { readonly at: number; readonly problem: string };
}

/**
 * @param folder the folder of cached answers; created if necessary
 * @returns the versions for the platform, in the order of the index, or one sentence that explains why it
 * cannot be read
 * @throws the signal's reason, and errors of the file system
 */
export async function readReleaseIndex(
  origin: ReleaseOrigin,
  platform: string,
  folder: string,
  signal: AbortSignal,
  bounds: Partial<FetchLimits> = {},
): Promise<IndexAnswer> {
  const url = origin.url(origin.release.index);
  if (origin.isFolder) return listFolder(origin, platform);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const name = createHash('sha256').update(url).digest('hex').slice(0, 12);
  const file = join(folder, `${origin.program}_${platform}_${name}.json`);
  const stored = await readStored(file, url);
  if (stored && isRecent(stored.readAt, freshMilliseconds)) return { versions: stored.versions };
  if (stored?.failure && isRecent(stored.failure.at, failureMilliseconds))
    return { problem: stored.failure.problem };
  try {
    const next = await refresh(origin, platform, url, stored, signal, { ...limits, ...bounds });
    await write(file, next);
    return { versions: next.versions };
  } catch (error) {
    if (signal.aborted || !(error instanceof FetchProblem)) throw error;
    const failed = {
      url,
      readAt: 0,
      versions: [],
      ...stored,
      failure: { at: Date.now(), problem: error.message },
    };
    await write(file, failed);
    return { problem: error.message };
  }
}

/** The names of the files are the index of a folder. */
async function listFolder({ base, release }: ReleaseOrigin, platform: string): Promise<IndexAnswer> {
  try {
    return { versions: release.readIndex((await readdir(base)).join('\n'), platform) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function refresh(
  origin: ReleaseOrigin,
  platform: string,
  url: string,
  stored: StoredIndex | null,
  signal: AbortSignal,
  bounds: FetchLimits,
): Promise<StoredIndex> {
  const tag: Record<string, string> = stored?.etag === undefined ? {} : { 'if-none-match': stored.etag };
  const answer = await fetchBytes(
    { url, headers: { ...origin.headers, ...tag }, limits: bounds, signal },
    stored?.etag === undefined ? [] : [304],
  );
  // New releases are on the first page: if that is the same, so are the others.
  if (answer.status === 304 && stored) return { ...stored, readAt: Date.now(), failure: undefined };
  const etag = answer.headers.get('etag');
  const versions = versionsOf(origin, platform, url, answer.body);
  let next = nextPage(url, answer.headers);
  for (let page = 2; next !== null && page <= maxPages; page++) {
    const more = await fetchBytes({ url: next, headers: origin.headers, limits: bounds, signal });
    versions.push(...versionsOf(origin, platform, next, more.body));
    next = nextPage(next, more.headers);
  }
  return {
    url,
    readAt: Date.now(),
    versions: [...new Set(versions)],
    ...(etag === null ? {} : { etag }),
  };
}

/** The next part of a list, by RFC 8288; null: there is none on the same server, which alone gets the credentials. */
function nextPage(url: string, headers: Headers): string | null {
  const link = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  const next = link === undefined ? null : URL.parse(link, url);
  return next !== null && next.origin === new URL(url).origin ? next.href : null;
}

function versionsOf(origin: ReleaseOrigin, platform: string, url: string, body: Uint8Array): string[] {
  try {
    return origin.release
      .readIndex(new TextDecoder().decode(body), platform)
      .filter((version) => valid(version) !== null);
  } catch (cause) {
    throw new FetchProblem(
      `${url} answered with something that is not an index of ${origin.program} versions`,
      null,
      { cause },
    );
  }
}

async function readStored(file: string, url: string): Promise<StoredIndex | null> {
  try {
    const stored = JSON.parse(await readFile(file, 'utf8')) as StoredIndex;
    return stored.url === url && Array.isArray(stored.versions) ? stored : null;
  } catch {
    return null;
  }
}

// If the clock was set back, an answer must not count as recent forever.
function isRecent(at: number, milliseconds: number): boolean {
  const age = Date.now() - at;
  return age >= 0 && age < milliseconds;
}

async function write(file: string, index: StoredIndex): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, JSON.stringify(index), { mode: 0o644 });
  await rename(unfinished, file);
}
