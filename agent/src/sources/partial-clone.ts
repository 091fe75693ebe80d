/**
 * A partial clone of a large repository, if ENVARIUM_GIT_CLONE_ARGS requests it: contents fetched at checkout
 * (`--filter`), and only the configuration's folder and the relative paths that it names (`--sparse`). Not
 * the default, which is one commit of one branch: a configuration may read files in ways that no one can see before it
 * runs.
 */
import { posix } from 'node:path';
import { addressOf } from '#guards/git/repository-access.ts';
import { isFullName } from '#guards/git/revision-name.ts';
import {
  type CheckoutRequest,
  type CloneArguments,
  expectGood,
  type Fetching,
  type GitEnd,
  isMissingRevision,
} from './git-calls.ts';

const maxFolders = 2000;
/**
 * Strings in the code that look like the beginning of a relative path, with or without the module's own
 * folder.
 */
const relativePath = /"(?:\$\{path\.(?:module|root|cwd)\}\/?)?(\.{0,2}\/[^"$\\\n]*)"/g;

/** Runs a command in the clone; fails if it does not succeed. */
type GitRunner = (command: string, args: readonly string[]) => Promise<void>;

/**
 * @param isClonable whether the revision is a name and not a commit
 * @throws an Error in plain words
 */
export async function cloneInPart(
  request: CheckoutRequest,
  fetching: Fetching,
  isClonable: boolean,
  revision: string | undefined,
): Promise<void> {
  const { isSparse } = request.cloneArguments;
  const run = runnerOf(request, fetching);
  const inFolder: GitRunner = async (command, args) =>
    expectGood(await run(command, ['-C', fetching.folder, command, ...args], false), fetching);
  const branch = isClonable ? revision : undefined;
  expectGood(await run('clone', argumentsOfClone(request, fetching, branch), true), fetching);
  if (!isClonable && revision !== undefined) {
    const fetched = await run('fetch', argumentsOfFetch(request, fetching, revision), true);
    refuseShortened(fetched, fetching, revision);
    expectGood(fetched, fetching);
  }
  const target = isClonable || revision === undefined ? [] : ['--detach', 'FETCH_HEAD'];
  const { path } = request;
  if (isSparse) {
    const first = path === '' ? [] : [path];
    const set = ['set', '--cone', '--skip-checks', '--', ...first];
    await inFolder('sparse-checkout', set);
  }
  await inFolder('checkout', ['--quiet', ...target]);
  if (!isSparse) return;
  const folders = await layOut(request, inFolder, path);
  request.log(`Sparse checkout of ${folders.length === 0 ? 'the root' : folders.join(', ')}`);
}

function isFiltered({ cloneArguments }: CheckoutRequest, { access }: Fetching): boolean {
  return cloneArguments.filter !== null && access.kind !== 'local';
}

/** @returns a function that runs git commands in the clone, and returns how they ended */
function runnerOf(request: CheckoutRequest, fetching: Fetching) {
  const { access } = fetching;
  const connection = { access, connectsItself: access.kind !== 'local' };
  return (command: string, args: readonly string[], mustConnect: boolean): Promise<GitEnd> =>
    request.git({
      label: `git ${command}`,
      args,
      // With a filter, any command may fetch missing contents, and must connect to the repository itself.
      ...(mustConnect || isFiltered(request, fetching) ? connection : {}),
    });
}

function argumentsOfClone(
  request: CheckoutRequest,
  fetching: Fetching,
  branch: string | undefined,
): readonly string[] {
  const { cloneArguments } = request;
  return [
    'clone',
    '--progress',
    '--no-checkout',
    ...cloneArguments.clone,
    ...(isFiltered(request, fetching) ? [`--filter=${cloneArguments.filter}`] : []),
    '--no-recurse-submodules',
    '--template=',
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
    '--',
    remoteAddress(fetching),
    fetching.folder,
  ];
}

function remoteAddress({ access, repository }: Fetching): string {
  return access.kind === 'ssh' ? repository : addressOf(access);
}

function argumentsOfFetch(
  { cloneArguments }: CheckoutRequest,
  fetching: Fetching,
  revision: string,
): readonly string[] {
  const remote = fetching.access.kind === 'local' ? remoteAddress(fetching) : 'origin';
  return ['-C', fetching.folder, 'fetch', '--progress', ...cloneArguments.fetch, '--', remote, revision];
}

/** @throws an Error if the commit was not found and may be a shortened one */
function refuseShortened(fetched: GitEnd, fetching: Fetching, revision: string): void {
  const isShortened = revision.length < 40 && !isFullName(revision);
  if (isShortened && fetched.exitCode !== 0 && isMissingRevision(fetched, fetching))
    throw new Error(
      `revision ${JSON.stringify(revision)} cannot be found by a partial clone: ` +
        'specify a branch, a tag or a full commit id',
    );
}

/**
 * Adds the folders that the code names, recursively.
 * @returns all of them
 */
async function layOut(request: CheckoutRequest, inFolder: GitRunner, path: string): Promise<string[]> {
  const known = new Set([path]);
  for (let fresh = [path]; fresh.length > 0; ) {
    const named = (
      await Promise.all(fresh.map(async (folder) => foldersNamedBy(folder, await request.codeIn(folder))))
    ).flat();
    fresh = [...new Set(named)].filter((folder) => !known.has(folder));
    for (const folder of fresh) known.add(folder);
    if (known.size > maxFolders)
      throw new Error(
        `the configuration names more than ${maxFolders} folders: remove --sparse from ENVARIUM_GIT_CLONE_ARGS`,
      );
    if (fresh.length > 0) await inFolder('sparse-checkout', ['add', '--skip-checks', '--', ...fresh]);
  }
  return [...known].filter((folder) => folder !== '');
}

/** The folders of the repository that a folder's code names; for a likely file, its folder. */
function foldersNamedBy(folder: string, texts: readonly string[]): string[] {
  const written = texts.flatMap((text) => [...text.matchAll(relativePath)].map(([, path = '']) => path));
  const paths = written.map((path) =>
    posix.join(
      folder === '' ? '.' : folder,
      path
        .replace(/^\/+/, '')
        .replace(/\/\/.*$/s, '')
        .replace(/\?.*$/s, ''),
    ),
  );
  const folders = paths.map((path) =>
    (posix.extname(path) === '' ? path : posix.dirname(path)).replace(/\/+$/, ''),
  );
  return folders.filter(
    (each) =>
      each !== '' &&
      each !== '.' &&
      each !== '..' &&
      !each.startsWith('../') &&
      !/(^|\/)-|[\u0000-\u001f*?[\]]/.test(each),
  );
}

export const cloneArgumentsName = 'ENVARIUM_GIT_CLONE_ARGS';

const usual: CloneArguments = {
  clone: ['--depth=1', '--single-branch', '--no-tags'],
  fetch: ['--depth=1', '--no-tags'],
  isSparse: false,
  filter: null,
};
const filterPattern = /^--filter=(blob:none|blob:limit=[0-9]{1,9}[kmg]?|tree:0)$/;

/** Allowed arguments, and whether `git fetch` knows them too. */
const allowed: readonly { readonly pattern: RegExp; readonly isForFetch: boolean }[] = [
  { pattern: /^--depth=[1-9][0-9]{0,8}$/, isForFetch: true },
  { pattern: /^--shallow-since=[0-9]{4}-[0-9]{2}-[0-9]{2}$/, isForFetch: true },
  { pattern: /^--(no-)?tags$/, isForFetch: true },
  { pattern: /^--(no-)?single-branch$/, isForFetch: false },
];
const allowedWords =
  '--depth=N, --shallow-since=YYYY-MM-DD, --tags, --no-tags, --single-branch, --no-single-branch, --sparse, --filter=blob:none';

/** Arguments that are always used, or have their own variable. */
const implied = /^--(no-)?(recurse-submodules|shallow-submodules|progress|quiet|verbose)$/;

/**
 * @param text the variable's value; undefined: the usual arguments
 * @throws an Error that names the refused argument
 */
export function readCloneArguments(text: string | undefined): CloneArguments {
  if (text === undefined) return usual;
  // `--depth 5` means `--depth=5`.
  const words = text
    .trim()
    .replaceAll(/(--(?:depth|shallow-since|filter))\s+(?=[^-\s])/g, '$1=')
    .split(/\s+/)
    .filter((word) => word !== '');
  const kept = words.filter((word) => !implied.test(word));
  const isOwn = (word: string) => word === '--sparse' || filterPattern.test(word);
  const ofGit = kept.filter((word) => !isOwn(word));
  const refused = ofGit.find((word) => !allowed.some(({ pattern }) => pattern.test(word)));
  if (refused !== undefined)
    throw new Error(`${cloneArgumentsName}: ${refused} is not allowed: use ${allowedWords}`);
  return {
    clone: ofGit,
    fetch: ofGit.filter((word) =>
      allowed.some(({ pattern, isForFetch }) => isForFetch && pattern.test(word)),
    ),
    isSparse: kept.includes('--sparse'),
    filter:
      kept.map((word) => filterPattern.exec(word)?.[1]).findLast((filter) => filter !== undefined) ?? null,
  };
}
