/** Credentials for the repository of a template. */
import type { Context } from '../../framework/context.ts';
import {
  type GitTokenRow,
  getRepositoryToken,
  isTokenFor,
  openToken,
} from '../../rows/git-tokens/git-token-store.ts';
import type { UsePlace } from '../../rows/projects/project-store.ts';
import type { RepositoryCredentials } from '../../rows/templates/columns.ts';
import { openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';
import { tokenIdOf } from '../../rows/vcs-connections/vcs-connection-store.ts';
import { hostOf, tokenCredentials } from './repository-credentials.ts';

/** The files of a template, and who reads them. */
export interface TemplateCode {
  readonly template: TemplateRow;
  readonly place: UsePlace;
  readonly repository: string;
}

/**
 * The token that settings name. A token that names hosts is sent only to those, even if the repository has moved since.
 */
async function tokenFor(
  { db }: Pick<Context, 'db'>,
  { template, place, repository }: TemplateCode,
): Promise<GitTokenRow | null> {
  const { tokenId: ownToken, vcsConnectionId } = template.settings;
  const tokenId = ownToken || (vcsConnectionId && (await tokenIdOf(db, place, vcsConnectionId, repository)));
  const token = tokenId ? await getRepositoryToken(db, place, tokenId) : undefined;
  return token && isTokenFor(token, repository) ? token : null;
}

/** Credentials from an address are sent only to its host, even if the repository has moved since. */
function ownCredentials(
  context: Pick<Context, 'sealer'>,
  { template, repository }: TemplateCode,
): RepositoryCredentials | null | undefined {
  const own = openCredentials(context, template);
  if (!own) return undefined;
  return own.host === hostOf(repository) ? { username: own.username, password: own.password } : null;
}

/** Those of its address take precedence over a token, also where they are for another host. */
export async function credentialsFor(
  context: Pick<Context, 'db' | 'sealer'>,
  code: TemplateCode,
): Promise<RepositoryCredentials | null> {
  const own = ownCredentials(context, code);
  if (own !== undefined) return own;
  const token = await tokenFor(context, code);
  return token && tokenCredentials(openToken(context, token));
}

/** Whether there are such credentials, with a password or token. */
export async function hasCredentials(
  context: Pick<Context, 'db' | 'sealer'>,
  code: TemplateCode,
): Promise<boolean> {
  const own = ownCredentials(context, code);
  return own === undefined ? (await tokenFor(context, code)) !== null : Boolean(own?.password);
}
