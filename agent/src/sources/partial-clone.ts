/**
 * A clone of a part of a large repository, where ENVARIUM_GIT_CLONE_ARGS asks for it: contents fetched when
 * they are laid out (`--filter`), and only the configuration's folder with what it names by relative paths
 * laid out (`--sparse`). Not the default: a configuration may read files in ways that nobody sees before it
 * runs.
 */
import { posix } from 'node:path';
import { normalizePath } from '#guards/source-guards.ts';
import { type CheckoutRequest, expectGood, type Fetching, isMissingRevision } from './git-calls.ts';
import { addressOf } from './repository-access.ts';

const mostFolders = 2000;
/** Texts of the code that begin like a relative path, with or without the module's own folder before them. */
const relativePath = /"(?:\$\{path\.(?:module|root|cwd)\}\/?)?(\.{0,2}\/[^"$\\\n]*)"/g;

/**
 * @param isClonable the revision is a name and not a commit
 * @throws an Error in a person's words
 */
export async function cloneInPart(
  request: CheckoutRequest,
  fetching: Fetching,
  isClonable: boolean,
  revision: string | undefined,
): Promise<void> {
  const { cloneArguments, source } = request;
  const { folder, access } = fetching;
  const isLocal = access.kind === 'local';
  const filter = cloneArguments.filter === null || isLocal ? [] : [`--filter=${cloneArguments.filter}`];
  // Contents that are missing are fetched by whichever command needs them: each of them has to reach the
  // repository by itself.
  const address = access.kind === 'ssh' ? fetching.repository : addressOf(access);
  const run = async (label: string, args: readonly string[], mustConnect: boolean) => {
    const connects = mustConnect || filter.length > 0;
    return request.git({
      label: `git ${label}`,
      args,
      ...(connects ? { access, connectsItself: !isLocal } : {}),
    });
  };
  const inFolder = async (label: string, args: readonly string[], mustConnect = false) =>
    run(label, ['-C', folder, label, ...args], mustConnect);
  const branch = isClonable && revision !== undefined ? [`--branch=${revision}`] : [];
  const options = [
    '--progress',
    '--no-checkout',
    ...cloneArguments.clone,
    ...filter,
    '--no-recurse-submodules',
    '--template=',
    ...branch,
  ];
  expectGood(await run('clone', ['clone', ...options, '--', address, folder], true), fetching);
  if (!isClonable && revision !== undefined) {
    const remote = isLocal ? address : 'origin';
    const fetched = await inFolder(
      'fetch',
      ['--progress', ...cloneArguments.fetch, '--', remote, revision],
      true,
    );
    if (fetched.exitCode !== 0 && isMissingRevision(fetched, fetching) && revision.length < 40)
      throw new Error(
        `revision ${JSON.stringify(revision)} is not found by a partial clone: give a branch, a tag or a whole commit id`,
      );
    expectGood(fetched, fetching);
  }
  const target = isClonable || revision === undefined ? [] : ['--detach', 'FETCH_HEAD'];
  if (!cloneArguments.isSparse)
    return expectGood(await inFolder('checkout', ['--quiet', ...target]), fetching);
  const path = normalizePath(source.path ?? '');
  expectGood(
    await inFolder('sparse-checkout', [
      'set',
      '--cone',
      '--skip-checks',
      '--',
      ...(path === '' ? [] : [path]),
    ]),
    fetching,
  );
  expectGood(await inFolder('checkout', ['--quiet', ...target]), fetching);
  const folders = await layOut(request, fetching, inFolder, path);
  request.say(`Sparse checkout of ${folders.length === 0 ? 'the root' : folders.join(', ')}`);
}

/** Adds the folders that the code names until it names no further ones. @returns all of them */
async function layOut(
  request: CheckoutRequest,
  fetching: Fetching,
  inFolder: (label: string, args: readonly string[]) => ReturnType<CheckoutRequest['git']>,
  path: string,
): Promise<string[]> {
  const known = new Set([path]);
  for (let fresh = [path]; fresh.length > 0; ) {
    const named = (
      await Promise.all(fresh.map(async (folder) => foldersNamedBy(folder, await request.codeIn(folder))))
    ).flat();
    fresh = [...new Set(named)].filter((folder) => !known.has(folder));
    for (const folder of fresh) known.add(folder);
    if (known.size > mostFolders)
      throw new Error(
        `the configuration names more than ${mostFolders} folders: take --sparse out of ENVARIUM_GIT_CLONE_ARGS`,
      );
    if (fresh.length > 0)
      expectGood(await inFolder('sparse-checkout', ['add', '--skip-checks', '--', ...fresh]), fetching);
  }
  return [...known].filter((folder) => folder !== '');
}

/**
 * Folders of the repository that the code of a folder names; of what looks like a file, the folder it lies
 * in.
 */
export function foldersNamedBy(folder: string, texts: readonly string[]): string[] {
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
