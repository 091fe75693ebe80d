/** Repositories that settings describe, with what the service reads them with. */
import type { RepositorySource } from '#guards/git/repository-access.ts';
import { knownHostsFile } from '#guards/known-hosts.ts';
import { readRepository } from '#guards/source-guards.ts';
import type { Context } from '../../framework/context.ts';
import type { ProjectPlace } from '../../rows/projects/project-store.ts';
import { getKeyValues } from '../../rows/ssh-keys/ssh-key-store.ts';
import type { TemplateSettings } from '../../rows/templates/columns.ts';
import { credentialsOf, type SettingsCode } from '../templates/credentials-for.ts';
import { UnreadableRepository } from './git/fetch-commit.ts';

/** Code that the service reads, and the project whose SSH keys it may use. */
export interface ReadCode extends SettingsCode {
  readonly settings: Pick<TemplateSettings, 'tokenId' | 'vcsConnectionId' | 'sshKeys'>;
  readonly keysOf: ProjectPlace;
}

/**
 * The same credentials that a run of this code would get.
 * @throws UnreadableRepository for an address that is not allowed (any more)
 */
export async function sourceOf(context: Context, code: ReadCode): Promise<RepositorySource> {
  const { settings } = context;
  const allowed = { httpHosts: settings.gitHttpHosts, localPaths: settings.gitLocalPaths };
  const kind = readRepository(code.repository, allowed);
  if ('refusal' in kind) throw new UnreadableRepository(`repository is refused: ${kind.refusal}`);
  const isWeb = kind.kind === 'https' || kind.kind === 'http';
  const credentials = isWeb ? ((await credentialsOf(context, code)) ?? undefined) : undefined;
  const source = { repository: code.repository, ...allowed, credentials };
  if (kind.kind !== 'ssh') return source;
  const ids = (code.settings.sshKeys ?? []).map(({ id }) => id);
  const keys = await getKeyValues(context.db, context, code.keysOf, ids);
  return { ...source, ssh: { keys, knownHosts: knownHostsFile(settings.gitKnownHosts) } };
}
