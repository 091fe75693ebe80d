/**
 * Fetches one commit of a repository without a working tree: nothing of it is written as a file, so that links,
 * filters and attributes of the repository have no effect, and submodules and LFS files are not fetched.
 */
import {
  explainGitFailure,
  type GitSource,
  isConnectionFailure,
  type RepositoryReader,
} from '#guards/git/git-errors.ts';
import { accessTo, addressOf, type RepositorySource } from '#guards/git/repository-access.ts';
import { isClonable, isFullName } from '#guards/git/revision-name.ts';
import { type GitAnswer, type GitPlace, runGit } from './run-git.ts';

/** As messages name the service. */
const service: RepositoryReader = { name: 'the service', holder: 'the request' };

/** Repository, revision and files to read. */
export interface CommitSource extends GitSource {
  readonly source: RepositorySource;
}

/** A failure that a person can do something about; the message begins with the name of a field. */
export class UnreadableRepository extends Error {
  override readonly name = 'UnreadableRepository';
}

/**
 * @param revision branch, tag or commit; absent: the default branch
 * @throws UnreadableRepository for an address that is not allowed
 */
export function fetchedFrom(source: RepositorySource, revision: string | undefined): CommitSource {
  const { repository } = source;
  try {
    const access = accessTo(source, repository);
    return { source, repository, access, reader: service, ...(revision === undefined ? {} : { revision }) };
  } catch (error) {
    throw new UnreadableRepository((error as Error).message, { cause: error });
  }
}

/** Values that a host may repeat in what it answers. */
function secretsOf({ access }: CommitSource): string[] {
  if (access.kind !== 'web' || access.credentials === undefined) return [];
  const { username, password } = access.credentials;
  return [Buffer.from(`${username}:${password}`).toString('base64'), password, encodeURIComponent(password)];
}

/** One text, so that it does not show what there is in the network of the service. */
export function noAnswer({ repository }: GitSource): string {
  return (
    `repository ${repository} cannot be reached by the service: check its address, and whether the service can connect to ` +
    'it; hosts in private networks need ENVARIUM_GIT_NETWORKS'
  );
}

function explain({ complaints }: GitAnswer, fetched: CommitSource): string {
  if (isConnectionFailure(complaints)) return noAnswer(fetched);
  const text = explainGitFailure(complaints, fetched);
  return secretsOf(fetched).reduce((masked, secret) => masked.replaceAll(secret, '***'), text);
}

/**
 * Runs a command that must succeed.
 * @throws UnreadableRepository in plain words
 */
export async function mustRun(
  place: GitPlace,
  fetched: CommitSource,
  args: readonly string[],
  isConnected = false,
): Promise<GitAnswer> {
  const answer = await runOrExplain(place, fetched, args, isConnected);
  if (typeof answer === 'string') throw new UnreadableRepository(answer);
  return answer;
}

async function runOrExplain(
  place: GitPlace,
  fetched: CommitSource,
  args: readonly string[],
  isConnected: boolean,
): Promise<GitAnswer | string> {
  let answer: GitAnswer;
  try {
    answer = await runGit(place, { args, ...(isConnected ? { access: fetched.access } : {}) });
  } catch (error) {
    if ((error as Error).message.startsWith('sshKeys: ')) return (error as Error).message;
    throw error;
  }
  if (answer.exitCode === 0) return answer;
  if (
    /File size limit exceeded|File too large|invalid index-pack output/i.test(answer.complaints) ||
    answer.exitCode === null
  )
    return `repository ${fetched.repository} is larger than ${place.megabytes} MB at this revision (setting ENVARIUM_REPOSITORY_LIMIT_MB), or damaged`;
  return explain(answer, fetched);
}

/** Part of a commit to fetch: its files but for large ones, which hold no variables, or their names only. */
export type FetchedPart = 'files' | 'names';

/** A local repository does not filter. */
function filterFor({ access }: CommitSource, part: FetchedPart): string[] {
  if (access.kind === 'local') return [];
  return [part === 'files' ? '--filter=blob:limit=2m' : '--filter=blob:none'];
}

/**
 * Fetches the commit into the bare repository `folder`.
 * @returns its name there
 * @throws UnreadableRepository that names the field
 */
export async function fetchCommit(
  place: GitPlace,
  fetched: CommitSource,
  folder: string,
  part: FetchedPart = 'files',
): Promise<string> {
  const { revision } = fetched;
  const filter = filterFor(fetched, part);
  if (revision === undefined || isClonable(revision)) await clone(place, fetched, folder, filter);
  else return fetch(place, fetched, folder, { commit: revision, filter });
  return 'HEAD';
}

async function clone(
  place: GitPlace,
  fetched: CommitSource,
  folder: string,
  filter: readonly string[],
): Promise<void> {
  const { revision: name } = fetched;
  const args = [
    'clone',
    '--quiet',
    '--bare',
    '--depth=1',
    '--single-branch',
    '--no-tags',
    '--template=',
    ...filter,
    ...(name === undefined ? [] : [`--branch=${name}`]),
    '--',
    addressOf(fetched.access),
    folder,
  ];
  await mustRun(place, fetched, args, true);
}

/**
 * A commit that the host does not serve by its id, or an abbreviated one, needs the whole history.
 * @param commit its id, or the full name of a branch or tag
 */
async function fetch(
  place: GitPlace,
  fetched: CommitSource,
  folder: string,
  { commit, filter }: { readonly commit: string; readonly filter: readonly string[] },
): Promise<string> {
  await mustRun(place, fetched, ['init', '--quiet', '--bare', '--template=', '--', folder]);
  const address = addressOf(fetched.access);
  const fetching = ['-C', folder, 'fetch', '--quiet', '--no-tags', ...filter];
  const one = await runOrExplain(place, fetched, [...fetching, '--depth=1', '--', address, commit], true);
  if (typeof one !== 'string') return 'FETCH_HEAD';
  if (!one.startsWith('revision ') || isFullName(commit)) throw new UnreadableRepository(one);
  const everything = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
  await mustRun(place, fetched, [...fetching, '--', address, ...everything], true);
  const parsing = ['-C', folder, 'rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`];
  return (await mustRun(place, fetched, parsing)).output.toString('utf8').trim();
}
