/**
 * Brings a revision of a git repository into an empty folder, shallow, under the slot's uid. A local repository is read with its
 * owner's rights and handed over through a socket, so that neither the slot needs access to it nor the agent's rights meet it.
 */
import { realpathSync, statSync } from 'node:fs';
import type { Job } from '#protocol/messages.ts';
import { isAtOrBelow, pathRefusal, type RepositoryKind, readRepository, revisionRefusal } from '#protocol/source-guards.ts';
import { explainGitFailure } from './git-errors.ts';

export interface GitCall {
  /** Names the command in records; never a value. */
  readonly label: string;
  readonly args: readonly string[];
  /** Only for calls that reach the repository: transports and credentials come into their environment. */
  readonly reaches?: Reached;
  /** The output is wanted, not logged. */
  readonly isCaptured?: boolean;
}

/** What a call reaches: an address on the web, or a local repository through descriptor 3. */
export type Reached =
  | { readonly kind: 'web'; readonly url: string }
  | { readonly kind: 'local'; readonly gitFolder: string; readonly ownerUid: number };

export interface GitEnd {
  readonly exitCode: number | null;
  /** The captured output, or the end of what was logged. */
  readonly output: string;
}

export interface CheckoutRequest {
  readonly source: Job['source'];
  /** Absolute path of an empty folder that belongs to the slot's uid. */
  readonly folder: string;
  /** Runs git, under the slot's uid; throws when the run is to stop. */
  readonly git: (call: GitCall) => Promise<GitEnd>;
}

/** As `gitMetadata` answers it; `branch` is the tag or commit where no branch was asked for. */
export interface CheckedOut {
  readonly commit: string;
  readonly branch: string;
  /** Committer date, ISO 8601. */
  readonly timestamp: string;
}

/** @throws an Error whose message names the field (repository, token, revision, path) and what to do */
export async function checkOut(request: CheckoutRequest): Promise<CheckedOut> {
  const { source } = request;
  const kind = guarded(source);
  const reached = reach(kind, source);
  const revision = source.revision?.replace(/^refs\/(heads|tags)\//, '');
  const isClonable = revision === undefined || (!/^[0-9a-f]{4,64}$/i.test(revision) && !revision.startsWith('refs/'));
  if (isClonable) await clone(request, reached, revision);
  else await fetchRevision(request, reached, revision);
  return describe(request, revision);
}

function guarded(source: Job['source']): RepositoryKind {
  const kind = readRepository(source.repository, source);
  if ('refusal' in kind) throw new Error(kind.refusal);
  const refusal =
    (source.revision === undefined ? null : revisionRefusal(source.revision)) ??
    (source.path === undefined ? null : pathRefusal(source.path));
  if (refusal !== null) throw new Error(refusal);
  return kind;
}

function reach(kind: RepositoryKind, source: Job['source']): Reached {
  if (kind.kind === 'ssh') throw new Error(`repository ${source.repository} uses ssh, which this agent cannot: update it`);
  if (kind.kind !== 'local') return { kind: 'web', url: kind.url };
  const missing = `repository ${source.repository} does not exist on the agent's machine: check the path`;
  const real = orThrow(() => realpathSync(kind.path), missing);
  const allowed = source.localPaths.map((folder) => orNull(() => realpathSync(folder)));
  if (!allowed.some((folder) => folder !== null && isAtOrBelow(real, folder))) {
    throw new Error(`repository ${source.repository} leads outside of the folders of ENVARIUM_GIT_LOCAL_PATHS through a symbolic link`);
  }
  return { kind: 'local', gitFolder: real, ownerUid: statSync(real).uid };
}

function addressOf(reached: Reached): string {
  return reached.kind === 'web' ? reached.url : 'fd::3';
}

async function clone({ source, folder, git }: CheckoutRequest, reached: Reached, revision: string | undefined): Promise<void> {
  const branch = revision === undefined ? [] : [`--branch=${revision}`];
  const args = [
    'clone',
    '--progress',
    '--depth=1',
    '--single-branch',
    '--no-tags',
    '--no-recurse-submodules',
    '--template=',
    ...branch,
    '--',
    addressOf(reached),
    folder,
  ];
  expectGood(await git({ label: 'git clone', args, reaches: reached }), source);
}

// A commit cannot be cloned by name. One that is abbreviated needs the whole history, which is fetched only then.
async function fetchRevision({ source, folder, git }: CheckoutRequest, reached: Reached, revision: string): Promise<void> {
  const inFolder = (...args: string[]) => ['-C', folder, ...args];
  expectGood(await git({ label: 'git init', args: ['init', '--quiet', '--template=', '--', folder] }), source);
  const shallow = await git({
    label: 'git fetch',
    args: inFolder('fetch', '--progress', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', addressOf(reached), revision),
    reaches: reached,
  });
  if (shallow.exitCode === 0)
    return expectGood(await git({ label: 'git checkout', args: inFolder('checkout', '--quiet', '--detach', 'FETCH_HEAD') }), source);
  if (!isMissingRevision(shallow, source)) return expectGood(shallow, source);
  const everything = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  expectGood(
    await git({
      label: 'git fetch',
      args: inFolder('fetch', '--progress', '--no-recurse-submodules', '--', addressOf(reached), ...everything),
      reaches: reached,
    }),
    source,
  );
  const parsed = await git({
    label: 'git rev-parse',
    args: inFolder('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`),
    isCaptured: true,
  });
  expectGood(parsed, source);
  expectGood(await git({ label: 'git checkout', args: inFolder('checkout', '--quiet', '--detach', parsed.output.trim()) }), source);
}

async function describe({ source, folder, git }: CheckoutRequest, revision: string | undefined): Promise<CheckedOut> {
  const end = await git({
    label: 'git log',
    args: ['-C', folder, 'log', '-1', '--no-show-signature', '--format=%H%n%cI%n%D', 'HEAD', '--'],
    isCaptured: true,
  });
  expectGood(end, source);
  const [commit = '', timestamp = '', names = ''] = end.output.split('\n');
  const branch = revision ?? /HEAD -> ([^,]+)/.exec(names)?.[1] ?? 'HEAD';
  return { commit, branch, timestamp };
}

function isMissingRevision(end: GitEnd, source: Job['source']): boolean {
  return explainGitFailure(end.output, source).startsWith('revision ');
}

function expectGood(end: GitEnd, source: Job['source']): void {
  if (end.exitCode !== 0) throw new Error(explainGitFailure(end.output, source));
}

function orThrow<Value>(read: () => Value, message: string): Value {
  try {
    return read();
  } catch (cause) {
    throw new Error(message, { cause });
  }
}

function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
