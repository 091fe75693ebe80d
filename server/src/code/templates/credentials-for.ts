/** Credentials for the repository of a template. */
import type { Context } from '../../framework/context.ts';
import {
  type GitTokenRow,
  getRepositoryToken,
  isTokenFor,
  openToken,
} from '../../rows/git-tokens/git-token-store.ts';
import type { UsePlace } from '../../rows/projects/project-store.ts';
import type {
  HostCredentials,
  RepositoryCredentials,
  TemplateSettings,
} from '../../rows/templates/columns.ts';
import { openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';
import { tokenIdOf } from '../../rows/vcs-connections/vcs-connection-store.ts';
import { hostOf, tokenCredentials } from './repository-credentials.ts';

/** The files of a template, and who reads them. */
export interface TemplateCode {
  readonly template: TemplateRow;
  readonly place: UsePlace;
  readonly repository: string;
}

/** Code that settings describe, stored or not. */
export interface SettingsCode extends Omit<TemplateCode, 'template'> {
  readonly settings: Pick<TemplateSettings, 'tokenId' | 'vcsConnectionId'>;
  /** Credentials from the address. */
  readonly own: HostCredentials | null;
}

/**
 * The token that settings name. A token that names hosts is sent only to those, even if the repository has moved since.
 */
async function tokenFor(
  { db }: Pick<Context, 'db'>,
  { settings, place, repository }: Omit<SettingsCode, 'own'>,
): Promise<GitTokenRow | null> {
  const { tokenId: ownToken, vcsConnectionId } = settings;
  const tokenId = ownToken || (vcsConnectionId && (await tokenIdOf(db, place, vcsConnectionId, repository)));
  const token = tokenId ? await getRepositoryToken(db, place, tokenId) : undefined;
  return token && isTokenFor(token, repository) ? token : null;
}

/** Credentials from an address are sent only to its host, even if the repository has moved since. */
function ownCredentials({
  own,
  repository,
}: Pick<SettingsCode, 'own' | 'repository'>): RepositoryCredentials | null | undefined {
  if (!own) return undefined;
  return own.host === hostOf(repository) ? { username: own.username, password: own.password } : null;
}

function settingsCode(
  context: Pick<Context, 'sealer'>,
  { template, place, repository }: TemplateCode,
): SettingsCode {
  return { settings: template.settings, own: openCredentials(context, template), place, repository };
}

/** Those of its address take precedence over a token, also where they are for another host. */
export async function credentialsOf(
  context: Pick<Context, 'db' | 'sealer'>,
  code: SettingsCode,
): Promise<RepositoryCredentials | null> {
  const own = ownCredentials(code);
  if (own !== undefined) return own;
  const token = await tokenFor(context, code);
  return token && tokenCredentials(openToken(context, token));
}

/** The same for a template. */
export async function credentialsFor(
  context: Pick<Context, 'db' | 'sealer'>,
  code: TemplateCode,
): Promise<RepositoryCredentials | null> {
  return credentialsOf(context, settingsCode(context, code));
}

/** Whether there are such credentials, with a password or token. */
export async function hasCredentials(
  context: Pick<Context, 'db' | 'sealer'>,
  code: TemplateCode,
): Promise<boolean> {
  const settings = settingsCode(context, code);
  const own = ownCredentials(settings);
  return own === undefined ? (await tokenFor(context, settings)) !== null : Boolean(own?.password);
}
