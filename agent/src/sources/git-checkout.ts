/**
 * Brings a revision of a git repository into an empty folder, shallow, under the slot's uid, with its
 * submodules and the files that LFS keeps. What needs the agent's own rights (a local repository, a key for
 * ssh) is spoken by a process of its own, joined to the slot's git through a socket: neither the slot needs
 * access to it nor do the agent's rights meet it.
 */
import type { Job } from '#protocol/messages.ts';
import { pathRefusal, revisionRefusal } from '#guards/source-guards.ts';
import type { CloneArguments } from './clone-arguments.ts';
import { explainGitFailure, type GitSource } from './git-errors.ts';
import { fetchLfsFiles } from './lfs.ts';
import { cloneInPart } from './partial-clone.ts';
import { addressOf, type Reached, reach } from './reach.ts';
import { fetchSubmodules } from './submodules.ts';

export interface GitCall {
  /** Names the command in records; never a value. */
  readonly label: string;
  readonly args: readonly string[];
  /** Only for calls that reach a repository: transports and credentials come into their environment. */
  readonly reaches?: Reached;
  /**
   * The program connects by itself, perhaps several times: what is reached over ssh goes through the gate
   * instead of descriptor 3.
   */
  readonly connectsItself?: boolean;
  /** The output is wanted, not logged. */
  readonly isCaptured?: boolean;
}

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
  readonly cloneArguments: CloneArguments;
  readonly skipsSubmodules: boolean;
  /** Whether git-lfs is installed. */
  readonly hasLfs: boolean;
  /** What lies at a path below the folder, seen with the slot's rights. */
  readonly kindOf: (path: string) => Promise<'folder' | 'file' | 'other' | 'outside' | 'none'>;
  /** The beginning of a file below the folder, null where there is none. */
  readonly beginningOf: (path: string) => Promise<string | null>;
  /** Texts of the tool's own files directly in a folder below the folder. */
  readonly codeIn: (path: string) => Promise<string[]>;
  /** A line for the log. */
  readonly say: (text: string) => void;
}

/** As `gitMetadata` answers it; `branch` is the tag or commit where no branch was asked for. */
export interface CheckedOut {
  readonly commit: string;
  readonly branch: string;
  /** Committer date, ISO 8601. */
  readonly timestamp: string;
}

/** One repository to fetch: the job's own or a submodule. */
export interface Fetching extends GitSource {
  readonly reached: Reached;
  /** Absolute path of its working tree. */
  readonly folder: string;
  /** Absolute path of its `.git` where that is not in its folder. */
  readonly gitFolder?: string;
}

/**
 * @throws an Error whose message names the field (repository, token, sshKeys, revision, path) and what to do
 */
export async function checkOut(request: CheckoutRequest): Promise<CheckedOut> {
  const { source, folder } = request;
  const refusal =
    (source.revision === undefined ? null : revisionRefusal(source.revision)) ??
    (source.path === undefined ? null : pathRefusal(source.path));
  if (refusal !== null) throw new Error(refusal);
  const revision = source.revision?.replace(/^refs\/(heads|tags)\//, '');
  const reached = reach(source, source.repository);
  const fetching: Fetching = { repository: source.repository, revision: source.revision, reached, folder };
  const isClonable =
    revision === undefined || (!/^[0-9a-f]{4,64}$/i.test(revision) && !revision.startsWith('refs/'));
  if (request.cloneArguments.isSparse || request.cloneArguments.filter !== null)
    await cloneInPart(request, fetching, isClonable, revision);
  else if (isClonable) await clone(request, fetching, revision);
  else await fetchRevision(request, fetching, revision);
  const [found, marks] = await Promise.all([
    describe(request, fetching, revision),
    findMarks(request, folder),
  ]);
  await complete(request, fetching, marks);
  return found;
}

/** What a working tree asks for beyond its own commit. */
export interface Marks {
  readonly hasSubmodules: boolean;
  /** Paths that the attributes hand to LFS. */
  readonly lfsFiles: readonly string[];
}

/** Looks in the index; one command, because nearly every repository has neither. */
export async function findMarks({ git }: Pick<CheckoutRequest, 'git'>, folder: string): Promise<Marks> {
  const args = [
    '-C',
    folder,
    'ls-files',
    '-z',
    '-t',
    '--',
    ':(top,literal).gitmodules',
    ':(top,attr:filter=lfs)',
  ];
  const { exitCode, output } = await git({ label: 'git ls-files', args, isCaptured: true });
  if (exitCode !== 0) throw new Error(`the files of the repository could not be listed: ${output.trim()}`);
  // What a sparse checkout leaves out is marked with S.
  const names = output
    .split('\0')
    .filter((entry) => entry !== '' && !entry.startsWith('S '))
    .map((entry) => entry.slice(2));
  return {
    hasSubmodules: names.includes('.gitmodules'),
    lfsFiles: names.filter((name) => name !== '.gitmodules'),
  };
}

/** Submodules, then LFS; for submodules the same again. */
export async function complete(request: CheckoutRequest, fetching: Fetching, marks: Marks): Promise<void> {
  if (marks.hasSubmodules) await fetchSubmodules(request, fetching);
  if (marks.lfsFiles.length > 0) await fetchLfsFiles(request, fetching, marks.lfsFiles);
}

async function clone(
  { git, cloneArguments }: CheckoutRequest,
  fetching: Fetching,
  revision: string | undefined,
): Promise<void> {
  const branch = revision === undefined ? [] : [`--branch=${revision}`];
  const args = [
    'clone',
    '--progress',
    ...cloneArguments.clone,
    '--no-recurse-submodules',
    '--template=',
    ...branch,
    '--',
    addressOf(fetching.reached),
    fetching.folder,
  ];
  expectGood(await git({ label: 'git clone', args, reaches: fetching.reached }), fetching);
}

/**
 * Fetches one revision into a fresh working tree. A commit cannot be cloned by name; one that is abbreviated,
 * or that the server does not give by its id, needs the whole history, which is fetched only then.
 */
export async function fetchRevision(
  { git, cloneArguments }: Pick<CheckoutRequest, 'git' | 'cloneArguments'>,
  fetching: Fetching,
  revision: string,
): Promise<void> {
  const { folder, reached, gitFolder } = fetching;
  const inFolder = (...args: string[]) => ['-C', folder, ...args];
  const apart = gitFolder === undefined ? [] : [`--separate-git-dir=${gitFolder}`];
  expectGood(
    await git({ label: 'git init', args: ['init', '--quiet', '--template=', ...apart, '--', folder] }),
    fetching,
  );
  const fetch = (...args: string[]) =>
    git({
      label: 'git fetch',
      args: inFolder('fetch', '--progress', '--no-recurse-submodules', ...args),
      reaches: reached,
    });
  const shallow = await fetch(...cloneArguments.fetch, '--', addressOf(reached), revision);
  if (shallow.exitCode === 0)
    return expectGood(
      await git({ label: 'git checkout', args: inFolder('checkout', '--quiet', '--detach', 'FETCH_HEAD') }),
      fetching,
    );
  if (!isMissingRevision(shallow, fetching)) return expectGood(shallow, fetching);
  const everything = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  expectGood(await fetch('--', addressOf(reached), ...everything), fetching);
  const parsed = await git({
    label: 'git rev-parse',
    args: inFolder('rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`),
    isCaptured: true,
  });
  expectGood(parsed, fetching);
  expectGood(
    await git({
      label: 'git checkout',
      args: inFolder('checkout', '--quiet', '--detach', parsed.output.trim()),
    }),
    fetching,
  );
}

async function describe(
  { git }: CheckoutRequest,
  fetching: Fetching,
  revision: string | undefined,
): Promise<CheckedOut> {
  const end = await git({
    label: 'git log',
    args: ['-C', fetching.folder, 'log', '-1', '--no-show-signature', '--format=%H%n%cI%n%D', 'HEAD', '--'],
    isCaptured: true,
  });
  expectGood(end, fetching);
  const [commit = '', timestamp = '', names = ''] = end.output.split('\n');
  const branch = revision ?? /HEAD -> ([^,]+)/.exec(names)?.[1] ?? 'HEAD';
  return { commit, branch, timestamp };
}

/** Whether git failed because the revision is not there, or not given by its id. */
export function isMissingRevision(end: GitEnd, fetching: Fetching): boolean {
  return explainGitFailure(end.output, fetching).startsWith('revision ');
}

/** @throws an Error in a person's words where git failed */
export function expectGood(end: GitEnd, fetching: GitSource): void {
  if (end.exitCode !== 0) throw new Error(explainGitFailure(end.output, fetching));
}
