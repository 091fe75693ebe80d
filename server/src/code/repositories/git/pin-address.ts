/**
 * Permitted addresses of repositories: the public internet, and those of settings. A name is resolved once, and
 * git or ssh connects to the addresses that were checked, so that a change of its DNS entries changes nothing.
 */
import { lookup } from 'node:dns/promises';
import type { RepositoryAccess } from '#guards/git/repository-access.ts';
import { sshHost } from '#guards/ssh-address.ts';
import { isClosedTo } from '../../../framework/http/callers/networks.ts';
import type { ServerSettings } from '../../../ground/config/config.ts';
import { type CommitSource, noAnswer, UnreadableRepository } from './fetch-commit.ts';
import { problemOfGit } from './git-version.ts';
import { UnusableGit } from './run-git.ts';

type PinSettings = Pick<ServerSettings, 'gitNetworks' | 'gitHttpHosts'>;

const portOf = ({ protocol, port }: URL) => port || (protocol === 'https:' ? '443' : '80');

/** The host that is connected to; null for a local repository. */
function hostOf(access: RepositoryAccess): string | null {
  if (access.kind === 'local') return null;
  return access.kind === 'ssh'
    ? access.address.hostname
    : new URL(access.url).hostname.replace(/^\[|\]$/g, '');
}

/** The operator has named the host, with or without its port. */
function isNamed({ gitHttpHosts }: PinSettings, access: RepositoryAccess): boolean {
  if (access.kind === 'local') return true;
  const url = access.kind === 'web' ? new URL(access.url) : null;
  const names = access.kind === 'ssh' ? [sshHost(access.address)] : [url?.host ?? '', url?.hostname ?? ''];
  return names.some((name) => gitHttpHosts.includes(name));
}

function pinned(access: RepositoryAccess, addresses: readonly string[]): RepositoryAccess {
  const [first = ''] = addresses;
  if (access.kind === 'ssh') return { ...access, connectTo: first };
  if (access.kind === 'local') return access;
  const url = new URL(access.url);
  const written = addresses.map((each) => (each.includes(':') ? `[${each}]` : each)).join();
  return { ...access, resolved: `${url.hostname}:${portOf(url)}:${written}` };
}

interface HostConnection {
  /** A forward proxy connects to the host, and resolves its name again: then nothing can be pinned. */
  readonly isProxied: boolean;
  /** Absolute path of git. */
  readonly program: string;
}

/**
 * @returns with the addresses that git or ssh connects to
 * @throws UnreadableRepository for a host in a private or local network, in the same words as for one that does not
 * answer; UnusableGit for an address on the web if git would connect to other addresses
 */
export async function pinAddress(
  settings: PinSettings,
  fetched: CommitSource,
  { isProxied, program }: HostConnection,
): Promise<CommitSource> {
  const { access } = fetched;
  const host = hostOf(access);
  if (host === null || isNamed(settings, access)) return fetched;
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0 && isProxied) return fetched;
  const open = found.map(({ address }) => address).filter((ip) => !isClosedTo(ip, settings.gitNetworks));
  if (open.length === 0) throw new UnreadableRepository(noAnswer(fetched));
  if (isProxied) return fetched;
  const problem = access.kind === 'web' ? await problemOfGit(program) : undefined;
  if (problem !== undefined) throw new UnusableGit(problem);
  return { ...fetched, access: pinned(access, open) };
}
