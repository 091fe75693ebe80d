/** Access to a repository and its credentials: each is sent to its own host and no other. */
import { realpathSync, statSync } from 'node:fs';
import { isAtOrBelow, readRepository, type SourceAllowances } from '../source-guards.ts';
import { type SshAddress, sshHost } from '../ssh-address.ts';

/** Of one host; never sent to another. */
export interface GitCredentials {
  readonly username: string;
  readonly password: string;
}

export interface RepositorySource extends SourceAllowances {
  readonly repository: string;
  /** For the repository's own host. */
  readonly credentials?: GitCredentials | undefined;
  /** For submodules and modules of other hosts (`name` or `name:port`). */
  readonly hostCredentials?: readonly (GitCredentials & { readonly host: string })[] | undefined;
  /** Private keys in the form that ssh reads, and lines of a `known_hosts` file. */
  readonly ssh?: { readonly keys: readonly string[]; readonly knownHosts: string } | undefined;
}

/**
 * An address on the web, one over ssh (handled by the agent), or a local repository; the last two through
 * descriptor 3.
 */
export type RepositoryAccess =
  | {
      readonly kind: 'web';
      readonly url: string;
      readonly credentials?: GitCredentials;
      /** Addresses to connect to, as `http.curloptResolve` has them. */
      readonly resolved?: string;
    }
  | {
      readonly kind: 'ssh';
      readonly address: SshAddress;
      readonly keys: readonly string[];
      readonly knownHosts: string;
      /** IP address to connect to; absent: ssh resolves the name. */
      readonly connectTo?: string;
    }
  | { readonly kind: 'local'; readonly gitFolder: string; readonly ownerUid: number };

/**
 * @param repository the job's own repository, or a submodule's
 * @throws an Error that begins with "repository" and says what to do
 */
export function accessTo(source: RepositorySource, repository: string): RepositoryAccess {
  const kind = readRepository(repository, source);
  if ('refusal' in kind) throw new Error(kind.refusal);
  if (kind.kind === 'ssh') {
    return {
      kind: 'ssh',
      address: kind.address,
      keys: keysFor(source, kind.address),
      knownHosts: source.ssh?.knownHosts ?? '',
    };
  }
  if (kind.kind === 'local') return accessToLocal(source, repository, kind.path);
  const credentials = credentialsFor(source, kind.url);
  return { kind: 'web', url: kind.url, ...(credentials ? { credentials } : {}) };
}

/** The address that git uses. */
export function addressOf(access: RepositoryAccess): string {
  return access.kind === 'web' ? access.url : 'fd::3';
}

/** The credentials for an address on the web; undefined if none belong to its host. */
export function credentialsFor(source: RepositorySource, url: string): GitCredentials | undefined {
  const { origin, host } = new URL(url);
  if (source.credentials && URL.parse(source.repository)?.origin === origin) return source.credentials;
  const other = source.hostCredentials?.find((each) => each.host.toLowerCase() === host);
  return other && { username: other.username, password: other.password };
}

/**
 * The keys that may be used for a host. If the repository itself is read over ssh, they belong to its host;
 * otherwise they are for submodules and modules.
 */
export function keysFor(source: RepositorySource, address: SshAddress): readonly string[] {
  const repository = readRepository(source.repository, source);
  const isOther = 'kind' in repository && repository.kind === 'ssh' && repository.host !== sshHost(address);
  return isOther ? [] : (source.ssh?.keys ?? []);
}

function accessToLocal(source: RepositorySource, repository: string, path: string): RepositoryAccess {
  const missing = `repository ${repository} does not exist on the machine that reads it: check the path`;
  const real = orThrow(() => realpathSync(path), missing);
  const allowed = source.localPaths.map((folder) => orNull(() => realpathSync(folder)));
  if (!allowed.some((folder) => folder !== null && isAtOrBelow(real, folder))) {
    throw new Error(
      `repository ${repository} leads outside the folders of ENVARIUM_GIT_LOCAL_PATHS through a symbolic link`,
    );
  }
  return { kind: 'local', gitFolder: real, ownerUid: statSync(real).uid };
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
