/** A repository to read, and what it may be read with: the part of a job that the service needs, too. */
import type { SourceAllowances } from '../source-guards.ts';

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
