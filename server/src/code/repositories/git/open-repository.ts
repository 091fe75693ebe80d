/** Opens repositories for the service: a few at a time, each in a private folder and under limits. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fastq from 'fastq';
import { gitConfiguration } from '#guards/git/git-environment.ts';
import { addressOf, type RepositorySource } from '#guards/git/repository-access.ts';
import { proxyEnvironment, readCertificates, trustedCertificates } from '#settings/network.ts';
import type { Context } from '../../../framework/context.ts';
import { Refusal } from '../../../ground/errors.ts';
import { type CommitTree, commitTree } from './commit-tree.ts';
import { type CommitSource, fetchCommit, fetchedFrom, mustRun } from './fetch-commit.ts';
import { pinAddress } from './pin-address.ts';
import { proxyFor } from './proxy-for.ts';
import { type GitPlace, gitProgram } from './run-git.ts';

/** Each takes a process or two, and memory for what it fetches. */
const mostAtOnce = 4;
const mostWaiting = 50;
const leftoverMilliseconds = 2 * 60 * 60 * 1000;

const queue = fastq.promise((work: () => Promise<unknown>) => work(), mostAtOnce);
const cleaned = new Set<string>();

type Opening = Pick<Context, 'settings' | 'stopping'>;

/** Folders that a killed server has left. */
function removeLeftovers(folder: string): void {
  if (cleaned.has(folder)) return;
  cleaned.add(folder);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > leftoverMilliseconds) rmSync(path, { recursive: true, force: true });
  }
}

/** Proxies as the service uses them itself, and the certificates that it trusts in addition. */
function networkFor(
  { settings }: Opening,
  folder: string,
): Pick<GitPlace, 'proxies'> & Partial<Pick<GitPlace, 'certificates'>> {
  const proxies = proxyEnvironment(process.env);
  if (settings.caFile === undefined) return { proxies };
  const own = readCertificates(settings.caFile, 'ENVARIUM_CA_FILE');
  const certificates = join(folder, 'certificates.pem');
  writeFileSync(certificates, `${trustedCertificates(own).join('\n')}\n`);
  return { proxies, certificates };
}

/** The repository at the addresses that git may connect to. */
async function checked(
  { settings }: Opening,
  { proxies }: GitPlace,
  wanted: CommitSource,
): Promise<CommitSource> {
  const { access } = wanted;
  const isProxied = access.kind === 'web' && Object.keys(proxyFor(new URL(access.url), proxies)).length > 0;
  return pinAddress(settings, wanted, { isProxied, program: gitProgram() });
}

function refusalFor(error: unknown, signal: AbortSignal, { settings, stopping }: Opening): unknown {
  if (!signal.aborted || error instanceof Refusal) return error;
  if (stopping.aborted) return new Refusal('unavailable', 'The service is being stopped: repeat the request');
  return new Refusal(
    'unprocessable',
    `Reading the repository takes longer than ${settings.repositoryTimeLimitSeconds} s (setting ENVARIUM_REPOSITORY_TIME_LIMIT_SECONDS)`,
  );
}

async function inPlace<Result>(
  context: Opening,
  work: (place: GitPlace) => Promise<Result>,
): Promise<Result> {
  const parent = join(context.settings.dataFolder, 'repositories');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeLeftovers(parent);
  const folder = mkdtempSync(join(parent, 'reading-'));
  const { repositoryTimeLimitSeconds: seconds, repositoryLimitMegabytes: megabytes } = context.settings;
  const signal = AbortSignal.any([AbortSignal.timeout(seconds * 1000), context.stopping]);
  try {
    const configurationFile = join(folder, 'gitconfig');
    writeFileSync(configurationFile, gitConfiguration);
    const network = networkFor(context, folder);
    return await work({ folder, configurationFile, signal, megabytes, ...network });
  } catch (error) {
    throw refusalFor(error, signal, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws Refusal 503 if too many others wait */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (queue.length() >= mostWaiting)
    throw new Refusal('unavailable', 'Too many repositories are being read: repeat the request later');
  return (await queue.push(work)) as Result;
}

/**
 * Fetches one commit, and lets `read` read its files.
 * @param revision branch, tag or commit; absent: the default branch
 * @throws UnreadableRepository in plain words; a Refusal where a limit is reached
 */
export function readRepository<Result>(
  context: Opening,
  source: RepositorySource,
  revision: string | undefined,
  read: (tree: CommitTree, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const wanted = fetchedFrom(source, revision);
  return inTurn(() =>
    inPlace(context, async (place) => {
      const fetched = await checked(context, place, wanted);
      const folder = join(place.folder, 'code');
      const commit = await fetchCommit(place, fetched, folder);
      return await read(commitTree(place, folder, commit), place.signal);
    }),
  );
}

/** All paths of a commit. */
export interface CommitListing {
  /** Id of the commit. */
  readonly commit: string;
  /** As `git ls-tree -r -t -z` writes it: `<mode> <type> <id>\t<path>`, each ended by a zero byte. */
  readonly listing: readonly Uint8Array[];
}

/**
 * Lists the files and folders of a commit without fetching their content.
 * @param revision branch, tag or commit; absent: the default branch
 * @throws UnreadableRepository in plain words; a Refusal where a limit is reached
 */
export function listCommit(
  context: Opening,
  source: RepositorySource,
  revision: string | undefined,
): Promise<CommitListing> {
  const wanted = fetchedFrom(source, revision);
  return inTurn(() =>
    inPlace(context, async (place) => {
      const fetched = await checked(context, place, wanted);
      const folder = join(place.folder, 'code');
      const name = await fetchCommit(place, fetched, folder, 'names');
      const tree = commitTree(place, folder, name);
      return { commit: await tree.id(), listing: await tree.listing() };
    }),
  );
}

const commitId = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/**
 * Asks a repository for the commit that a revision stands for, and nothing else.
 * @param revision branch, tag or commit; absent: the default branch
 * @returns undefined for a revision that the repository does not list, such as the beginning of an id
 * @throws UnreadableRepository in plain words; a Refusal where a limit is reached
 */
export function headOf(
  context: Opening,
  source: RepositorySource,
  revision: string | undefined,
): Promise<string | undefined> {
  if (revision !== undefined && commitId.test(revision)) return Promise.resolve(revision);
  const wanted = fetchedFrom(source, revision);
  const full = revision?.startsWith('refs/')
    ? [revision]
    : [`refs/heads/${revision}`, `refs/tags/${revision}`];
  // A tag with a message stands for the commit that it is about.
  const names = revision === undefined ? ['HEAD'] : full.flatMap((name) => [`${name}^{}`, name]);
  return inTurn(() =>
    inPlace(context, async (place) => {
      const fetched = await checked(context, place, wanted);
      const args = ['ls-remote', '--quiet', '--', addressOf(fetched.access), ...names];
      const { output } = await mustRun(place, fetched, args, true);
      const lines = output.toString('utf8').split('\n');
      const ids = new Map(lines.map((line) => line.split('\t', 2).toReversed() as [string, string]));
      return names.map((name) => ids.get(name)).find((id) => id !== undefined);
    }),
  );
}

/** Names of revisions, as the repository lists them. */
export interface Revisions {
  readonly heads: string[];
  readonly tags: string[];
}

/** @throws UnreadableRepository in plain words; a Refusal where a limit is reached */
export function listRevisions(context: Opening, source: RepositorySource): Promise<Revisions> {
  const wanted = fetchedFrom(source, undefined);
  return inTurn(() =>
    inPlace(context, async (place) => {
      const fetched = await checked(context, place, wanted);
      const args = ['ls-remote', '--quiet', '--heads', '--tags', '--refs', '--', addressOf(fetched.access)];
      const { output } = await mustRun(place, fetched, args, true);
      const names = output
        .toString('utf8')
        .split('\n')
        .map((line) => line.split('\t', 2)[1] ?? '');
      const below = (prefix: string) =>
        names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
      return { heads: below('refs/heads/'), tags: below('refs/tags/') };
    }),
  );
}
