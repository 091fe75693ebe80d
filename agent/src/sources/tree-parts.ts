/**
 * The parts of a working tree in addition to its own commit: submodules and LFS files. Submodules are fetched by the
 * agent and not by git: each address is guarded like the repository's own, each path stays in the tree, nothing in
 * `.gitmodules` is ever executed, credentials are sent to their own hosts only, and a repository that contains itself is
 * an error. A submodule's `.git` is below the repository's own, so that it is not packed for the apply.
 */
import { join } from 'node:path';
import { accessTo } from '#guards/git/repository-access.ts';
import { pathRefusal, readRepository } from '#guards/source-guards.ts';
import { type CheckoutRequest, type Fetching, fetchRevision } from './git-calls.ts';
import { fetchLfsFiles } from './lfs.ts';

const deepest = 10;
const most = 200;

/** An entry of `.gitmodules`, and the commit in the tree. */
interface Submodule {
  readonly path: string;
  readonly url: string;
  readonly commit: string;
}

export interface TreeParts {
  readonly hasSubmodules: boolean;
  /** Paths that the attributes assign to LFS. */
  readonly lfsFiles: readonly string[];
}

/** A repository's position in the nesting. */
interface Nest {
  /** Addresses from the job's repository down to this one. */
  readonly chain: readonly string[];
  /** Path of the working tree relative to the tree; empty for the outermost. */
  readonly prefix: string;
  readonly counter: { count: number };
}

/**
 * Fetches the parts of a working tree: submodules, then LFS files; the same for each submodule.
 * @throws an Error that names the submodule's path and address
 */
export async function fetchParts(
  request: CheckoutRequest,
  fetching: Fetching,
  parts: TreeParts,
  nest: Nest = { chain: [sameAddress(fetching.repository)], prefix: '', counter: { count: 0 } },
): Promise<void> {
  if (parts.hasSubmodules) await fetchSubmodules(request, fetching, nest);
  if (parts.lfsFiles.length > 0) await fetchLfsFiles(request, fetching, parts.lfsFiles);
}

async function fetchSubmodules(request: CheckoutRequest, outer: Fetching, nest: Nest): Promise<void> {
  if (request.skipsSubmodules)
    return request.log('Submodules are not fetched: ENVARIUM_SKIP_SUBMODULE_GIT_CLONE is true');
  for (const submodule of await listSubmodules(request, outer)) {
    const path = nest.prefix === '' ? submodule.path : `${nest.prefix}/${submodule.path}`;
    try {
      await fetchOne(request, outer, submodule, { ...nest, prefix: path });
    } catch (error) {
      const { message } = error as Error;
      if (message.startsWith('submodule ') || (error as Error).name === 'RunFailure') throw error;
      throw new Error(`submodule ${JSON.stringify(path)} (${shown(submodule.url)}): ${message}`, {
        cause: error,
      });
    }
  }
}

async function fetchOne(
  request: CheckoutRequest,
  outer: Fetching,
  submodule: Submodule,
  nest: Nest,
): Promise<void> {
  const kind = await request.kindOf(nest.prefix);
  if (kind === 'none' && request.cloneArguments.isSparse) return;
  if (kind !== 'folder')
    throw new Error(
      kind === 'outside' ? 'its path leads outside the tree' : 'its path is not a folder of the tree',
    );
  const repository = withoutUser(resolveSubmoduleUrl(outer.repository, submodule.url));
  if (nest.chain.includes(sameAddress(repository))) {
    throw new Error(
      `it contains itself (${nest.chain.join(' → ')} → ${sameAddress(repository)}): remove it, or set ENVARIUM_SKIP_SUBMODULE_GIT_CLONE=true`,
    );
  }
  if (nest.chain.length >= deepest) throw new Error(`submodules are nested deeper than ${deepest} levels`);
  if (++nest.counter.count > most) throw new Error(`the repository has more than ${most} submodules`);
  const access = accessTo(request.source, repository);
  if (access.kind === 'local' && outer.access.kind !== 'local') {
    throw new Error(
      "its address is a folder of the agent's machine, which a repository of the network may not refer to",
    );
  }
  const gitFolder = join(request.folder, '.git', `submodule-${nest.counter.count}`);
  const fetching: Fetching = {
    repository,
    revision: submodule.commit,
    access,
    folder: join(request.folder, nest.prefix),
    gitFolder,
  };
  request.log(`Submodule ${nest.prefix}: ${repository}, commit ${submodule.commit}`);
  await fetchRevision(request, fetching, submodule.commit);
  const parts = await findParts(request, fetching.folder);
  await fetchParts(request, fetching, parts, { ...nest, chain: [...nest.chain, sameAddress(repository)] });
}

/** Checks the index with one command. */
export async function findParts({ git }: Pick<CheckoutRequest, 'git'>, folder: string): Promise<TreeParts> {
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
  // Files outside a sparse checkout are marked with S.
  const names = output
    .split('\0')
    .filter((entry) => entry !== '' && !entry.startsWith('S '))
    .map((entry) => entry.slice(2));
  return {
    hasSubmodules: names.includes('.gitmodules'),
    lfsFiles: names.filter((name) => name !== '.gitmodules'),
  };
}

/** The submodules that `.gitmodules` declares and that the commit contains. */
async function listSubmodules({ git }: CheckoutRequest, { folder }: Fetching): Promise<Submodule[]> {
  const keys = await git({
    label: 'git config',
    args: [
      '-C',
      folder,
      'config',
      '-z',
      '--blob=HEAD:.gitmodules',
      '--get-regexp',
      '^submodule\\..*\\.(path|url|update)$',
    ],
    isCaptured: true,
  });
  if (keys.exitCode === 1) return [];
  if (keys.exitCode !== 0)
    throw new Error(`.gitmodules of the repository cannot be read: ${keys.output.trim()}`);
  const declared = [...readEntries(keys.output).values()].filter(
    ({ path, update }) => path !== undefined && update !== 'none',
  );
  for (const { path = '', url = '' } of declared) {
    const refusal = /^(\/|$)/.test(path) ? 'path is empty or begins with "/"' : pathRefusal(path);
    if (refusal !== null) throw new Error(`submodule ${JSON.stringify(path)} (${shown(url)}): ${refusal}`);
  }
  const commits = await readCommits(
    git,
    folder,
    declared.map(({ path = '' }) => path),
  );
  return declared.flatMap(({ path = '', url = '' }) => {
    const commit = commits.get(path);
    return commit === undefined ? [] : [{ path, url, commit }];
  });
}

function readEntries(output: string): Map<string, { path?: string; url?: string; update?: string }> {
  const entries = new Map<string, { path?: string; url?: string; update?: string }>();
  for (const record of output.split('\0').filter((each) => each !== '')) {
    const [, name = '', key = '', value = ''] =
      /^submodule\.([\s\S]*)\.(path|url|update)\n([\s\S]*)$/.exec(record) ?? [];
    entries.set(name, { ...entries.get(name), [key]: value });
  }
  return entries;
}

/** Commits of submodules by path. */
async function readCommits(
  git: CheckoutRequest['git'],
  folder: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  const args = [
    '-C',
    folder,
    'ls-files',
    '-z',
    '--stage',
    '--',
    ...paths.map((path) => `:(top,literal)${path}`),
  ];
  const { exitCode, output } = await git({ label: 'git ls-files', args, isCaptured: true });
  if (exitCode !== 0)
    throw new Error(`.gitmodules of the repository names a path that git refuses: ${output.trim()}`);
  const found = output.split('\0').map((line) => /^160000 ([0-9a-f]+) \d\t([\s\S]*)$/.exec(line));
  return new Map(
    found.flatMap((match) => (match === null ? [] : [[match[2] ?? '', match[1] ?? ''] as const])),
  );
}

/** An address that may be shown, without a password. */
function shown(url: string): string {
  return url
    .replace(/^(https?:\/\/)[^@/]*@/i, '$1***@')
    .replace(/^([a-z+]+:\/\/[^:@/]*):[^@/]*@/i, '$1:***@');
}

/** Some forges offer addresses with a user; the repository must not decide whose credentials are used. */
function withoutUser(url: string): string {
  return url.replace(/^(https?:\/\/)[^:@/]*@/i, '$1');
}

/** One form for addresses of the same repository. */
function sameAddress(repository: string): string {
  const kind = readRepository(repository, { httpHosts: [], localPaths: [] });
  const plain =
    'kind' in kind && kind.kind === 'ssh'
      ? `${kind.host}/${kind.address.path.replace(/^\//, '')}`
      : repository;
  return plain.replace(/(?<!\/)\/+$/, '').replace(/\.git$/, '');
}

/**
 * Resolves the address of a submodule that is relative to its repository.
 * @param base the address of the outer repository
 * @param url as in `.gitmodules`
 * @returns the address; unchanged if not relative
 * @throws an Error if it leads above the host's or the machine's root
 */
function resolveSubmoduleUrl(base: string, url: string): string {
  if (!/^\.\.?(\/|$)/.test(url)) return url;
  const [, head = '', path = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*\/|[^/:[]*(?:\[[^\]]*\])?:|\/)(.*)$/.exec(base) ?? [];
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  for (const segment of url.split('/').filter((each) => each !== '' && each !== '.')) {
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined)
      throw new Error('its address leads above the root of the repository’s host');
  }
  // `git@host:/path` and `git@host:path` differ.
  const isRooted = path.startsWith('/') && !head.endsWith('/');
  return `${head}${isRooted ? '/' : ''}${segments.join('/')}`;
}
