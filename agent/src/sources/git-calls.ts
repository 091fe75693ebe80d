/**
 * The git calls that a checkout, its submodules and its LFS files share: the form of a call and its result,
 * and how one revision is fetched.
 */

import { explainGitFailure, type GitSource } from '#guards/git/git-errors.ts';
import { addressOf, type RepositoryAccess } from '#guards/git/repository-access.ts';
import { isFullName } from '#guards/git/revision-name.ts';
import type { Job } from '#protocol/messages/job.ts';

export interface GitCall {
  /** Names the command in records; never a value. */
  readonly label: string;
  readonly args: readonly string[];
  /** Only for calls to a repository: transports and credentials are added to their environment. */
  readonly access?: RepositoryAccess;
  /** The program connects on its own, possibly several times: ssh uses the gate instead of descriptor 3. */
  readonly connectsItself?: boolean;
  /** The output is returned, not logged. */
  readonly isCaptured?: boolean;
}

export interface GitEnd {
  readonly exitCode: number | null;
  /** The signal that ended it, which came from elsewhere. */
  readonly signal: string | null;
  /** The captured output, or the end of the logged one if git failed. Masking takes long where there are many secrets. */
  readonly output: string;
}

/** The arguments that determine how much of a repository is cloned. */
export interface CloneArguments {
  /** For `git clone`. */
  readonly clone: readonly string[];
  /** For the `git fetch` of one commit. */
  readonly fetch: readonly string[];
  /** Only the configuration's folder and the relative paths that it names are checked out. */
  readonly isSparse: boolean;
  /** The filter for contents fetched on demand, in git's notation; null: everything immediately. */
  readonly filter: string | null;
}

export interface CheckoutRequest {
  readonly source: Job['source'];
  /** Remedy if the revision does not exist; absent: to specify another one. */
  readonly ifMissing?: string;
  /** Absolute path of an empty folder that belongs to the slot's uid. */
  readonly folder: string;
  /** Of the configuration's folder, relative to the tree and normalized. */
  readonly path: string;
  /** Runs git, under the slot's uid; throws if the run must stop. */
  readonly git: (call: GitCall) => Promise<GitEnd>;
  readonly cloneArguments: CloneArguments;
  readonly skipsSubmodules: boolean;
  /** Whether git-lfs is installed. */
  readonly hasLfs: boolean;
  /** The kind of a path below the folder, seen with the slot's rights. */
  readonly kindOf: (path: string) => Promise<'folder' | 'file' | 'other' | 'outside' | 'none'>;
  /** The beginning of a file below the folder; null if it does not exist. */
  readonly beginningOf: (path: string) => Promise<string | null>;
  /** The first bytes of a file below the folder, at most that many; null if it cannot be read. */
  readonly bytesOf: (path: string, most: number) => Promise<Uint8Array | null>;
  /** The names in a folder below the folder; none if it cannot be read. */
  readonly namesIn: (path: string) => Promise<string[]>;
  /** Texts of the tool's own files directly in a subfolder. */
  readonly codeIn: (path: string) => Promise<string[]>;
  /** Logs one line. */
  readonly log: (text: string) => void;
}

/** One repository to fetch: the job's own or a submodule. */
export interface Fetching extends GitSource {
  readonly access: RepositoryAccess;
  /** Absolute path of its working tree. */
  readonly folder: string;
  /** Absolute path of its `.git` if that is not in its folder. */
  readonly gitFolder?: string;
}

/**
 * Fetches one revision into a fresh working tree. A commit cannot be cloned by name; an abbreviated one, or
 * one that the server does not serve by its id, needs the whole history, which is fetched only then.
 */
export async function fetchRevision(
  { git, cloneArguments }: Pick<CheckoutRequest, 'git' | 'cloneArguments'>,
  fetching: Fetching,
  revision: string,
): Promise<void> {
  const { folder, access, gitFolder } = fetching;
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
      access,
    });
  const shallow = await fetch(...cloneArguments.fetch, '--', addressOf(access), revision);
  if (shallow.exitCode === 0)
    return expectGood(
      await git({ label: 'git checkout', args: inFolder('checkout', '--quiet', '--detach', 'FETCH_HEAD') }),
      fetching,
    );
  if (isFullName(revision) || !isMissingRevision(shallow, fetching)) return expectGood(shallow, fetching);
  const everything = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  expectGood(await fetch('--', addressOf(access), ...everything), fetching);
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

/** Whether git failed because the revision does not exist or is not served by its id. */
export function isMissingRevision(end: GitEnd, fetching: Fetching): boolean {
  return explainGitFailure(end.output, fetching).startsWith('revision ');
}

/** @throws an Error in plain words if git failed */
export function expectGood(end: GitEnd, fetching: GitSource): void {
  if (end.signal !== null)
    throw new Error(
      `repository ${fetching.repository} could not be read: git was ended by signal ${end.signal}`,
    );
  if (end.exitCode !== 0) throw new Error(explainGitFailure(end.output, fetching));
}
