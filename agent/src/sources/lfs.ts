/**
 * LFS files, fetched after the checkout: a pointer is never used as the file. The server that the repository
 * names is guarded like a repository's address; transfers by other programs are off, whatever a configuration
 * contains.
 */

import { accessTo, credentialsFor, type RepositoryAccess } from '#guards/git/repository-access.ts';
import { readRepository } from '#guards/source-guards.ts';
import type { CheckoutRequest, Fetching, GitEnd } from './git-calls.ts';

const pointerBeginning = 'version https://git-lfs.github.com/spec/';
/** At most this many files are checked if git-lfs is missing. */
const maxSearched = 1000;

/**
 * @param files paths that the attributes assign to LFS, relative to the working tree
 * @throws an Error that names a file and what to do
 */
export async function fetchLfsFiles(
  request: CheckoutRequest,
  fetching: Fetching,
  files: readonly string[],
): Promise<void> {
  const below =
    fetching.folder === request.folder ? '' : `${fetching.folder.slice(request.folder.length + 1)}/`;
  const first = await firstPointer(request, below, files);
  if (first === null) return;
  if (!request.hasLfs) {
    throw new Error(
      `repository ${fetching.repository} keeps ${JSON.stringify(first)} in LFS, and git-lfs is not installed on the agent's machine: install it (package "git-lfs"), then deploy again`,
    );
  }
  const server = await findServer(request, fetching, below);
  request.log(
    `LFS: fetching ${files.length} ${files.length === 1 ? 'file' : 'files'} from ${server.address}`,
  );
  const end = await request.git({
    label: 'git lfs pull',
    args: [
      '-C',
      fetching.folder,
      ...settings(server.address),
      'lfs',
      'pull',
      `--include=${included(request, files)}`,
      '--exclude=',
    ],
    access: server.access,
    connectsItself: true,
  });
  if (end.exitCode !== 0) throw new Error(explain(end, fetching, server));
  const left = await firstPointer(request, below, files);
  if (left !== null)
    throw new Error(
      `repository ${fetching.repository}: LFS did not fetch ${JSON.stringify(left)} from ${server.address}`,
    );
}

interface LfsServer {
  readonly address: string;
  readonly access: RepositoryAccess;
}

async function firstPointer(
  request: CheckoutRequest,
  below: string,
  files: readonly string[],
): Promise<string | null> {
  for (const file of files.slice(0, maxSearched)) {
    if ((await request.beginningOf(`${below}${file}`))?.startsWith(pointerBeginning)) return file;
  }
  return null;
}

async function findServer(request: CheckoutRequest, fetching: Fetching, below: string): Promise<LfsServer> {
  const named = await namedServer(request, fetching, below);
  if (named !== null) return guardedServer(request, fetching, named);
  const { access, repository } = fetching;
  if (access.kind === 'ssh') return { address: repository, access };
  if (access.kind === 'web')
    return {
      address: `${access.url.replace(/(?<!\/)\/+$/, '').replace(/(\.git)?$/, '.git')}/info/lfs`,
      access,
    };
  throw new Error(
    `repository ${repository} keeps files in LFS, which are not read from a local repository: use its address on the network`,
  );
}

/** The server in `.lfsconfig` of the commit, or null. */
async function namedServer(
  { git, kindOf }: CheckoutRequest,
  { folder }: Fetching,
  below: string,
): Promise<string | null> {
  if ((await kindOf(`${below}.lfsconfig`)) === 'none') return null;
  const args = [
    '-C',
    folder,
    'config',
    '-z',
    '--blob=HEAD:.lfsconfig',
    '--get-regexp',
    '^(lfs\\.url|remote\\.origin\\.lfsurl)$',
  ];
  const { exitCode, output } = await git({ label: 'git config', args, isCaptured: true });
  if (exitCode !== 0) return null;
  const entries = output.split('\0').map((entry) => entry.split('\n', 2) as [string, string?]);
  return (
    entries.find(([key]) => key === 'remote.origin.lfsurl')?.[1] ??
    entries.find(([key]) => key === 'lfs.url')?.[1] ??
    null
  );
}

function guardedServer({ source }: CheckoutRequest, { repository }: Fetching, address: string): LfsServer {
  const kind = readRepository(address, source);
  if ('refusal' in kind)
    throw new Error(`.lfsconfig of ${repository}: lfs.url ${kind.refusal.replace(/^repository /, '')}`);
  if (kind.kind === 'local')
    throw new Error(
      `.lfsconfig of ${repository}: lfs.url is a local folder, which is not allowed: use https`,
    );
  if (kind.kind === 'ssh') return { address, access: accessTo(source, address) };
  const credentials = credentialsFor(source, kind.url);
  return {
    address: kind.url,
    access: { kind: 'web', url: kind.url, ...(credentials ? { credentials } : {}) },
  };
}

// In a sparse checkout only its files, by name; else everything.
function included({ cloneArguments }: CheckoutRequest, files: readonly string[]): string {
  if (!cloneArguments.isSparse) return '';
  const patternLike = files.find((file) => /[,*?[\]\\!]/.test(file));
  if (patternLike !== undefined)
    throw new Error(
      `LFS: ${JSON.stringify(patternLike)} has a name that git-lfs reads as a pattern; remove --sparse from ENVARIUM_GIT_CLONE_ARGS`,
    );
  return files.join(',');
}

function settings(address: string): string[] {
  const values = [
    `lfs.url=${address}`,
    'lfs.basictransfersonly=true',
    'lfs.skipdownloaderrors=false',
    'lfs.locksverify=false',
    'lfs.ssh.automultiplex=false',
    'lfs.dialtimeout=20',
    'lfs.transfer.maxretries=3',
    // Otherwise git-lfs considers itself not installed, and leaves the pointers in place.
    'filter.lfs.clean=git-lfs clean -- %f',
  ];
  return values.flatMap((value) => ['-c', value]);
}

function explain({ output }: GitEnd, { repository }: Fetching, { address, access }: LfsServer): string {
  const about = `repository ${repository}: its files in LFS could not be read from ${address}`;
  if (
    /Authentication required|Authorization error|\b40[13]\b|could not read Username|credentials/i.test(output)
  ) {
    const hasToken = access.kind === 'web' && access.credentials !== undefined;
    return hasToken
      ? `token: ${about}: the token was refused`
      : `${about}: it requires credentials, and there are none for that host`;
  }
  const words = output
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return `${about}: ${words.filter((line) => !/^(Downloading|Filtering|(error: )?failed to fetch)/i.test(line)).at(-1) ?? 'git-lfs gave no reason'}`;
}
