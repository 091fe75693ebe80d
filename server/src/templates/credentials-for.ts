/** What the repository of a template is read with. */
import type { Context } from '../context.ts';
import { getRepositoryToken, isTokenFor, openToken } from '../git-tokens/git-token-store.ts';
import type { UsePlace } from '../projects/project-store.ts';
import { tokenIdOf } from '../vcs-connections/vcs-connection-store.ts';
import { hostOf, type RepositoryCredentials, tokenCredentials } from './repository-credentials.ts';
import { openCredentials, type TemplateRow } from './template-store.ts';

/** The files of a template, and who reads them. */
export interface TemplateCode {
  readonly template: TemplateRow;
  readonly place: UsePlace;
  readonly repository: string;
}

/**
 * Credentials from an address are sent only to its host, and a token that names hosts only to those, even if
 * the repository has moved since.
 */
export async function credentialsFor(
  context: Pick<Context, 'db' | 'sealer'>,
  { template, place, repository }: TemplateCode,
): Promise<RepositoryCredentials | null> {
  const own = openCredentials(context, template);
  if (own) return own.host === hostOf(repository) ? { username: own.username, password: own.password } : null;
  const { tokenId: ownToken, vcsConnectionId } = template.settings;
  const tokenId =
    ownToken || (vcsConnectionId && (await tokenIdOf(context.db, place, vcsConnectionId, repository)));
  const token = tokenId ? await getRepositoryToken(context.db, place, tokenId) : undefined;
  return token && isTokenFor(token, repository) ? tokenCredentials(openToken(context, token)) : null;
}
