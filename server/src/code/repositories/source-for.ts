/**
 * Credentials with which a caller may read a repository: those that the caller could also give to an environment
 * or a template.
 */

import type { Right } from '#contract/schema/enumerations.ts';
import type { GitCredentials, RepositorySource } from '#guards/git/repository-access.ts';
import { knownHostsFile } from '#guards/known-hosts.ts';
import { readRepository } from '#guards/source-guards.ts';
import { MissingRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, unknownEntity } from '../../ground/errors.ts';
import {
  type GitTokenRow,
  getToken,
  isTokenFor,
  listTokens,
  openToken,
} from '../../rows/git-tokens/git-token-store.ts';
import { inOrganization, type Place } from '../../rows/places.ts';
import { isAnyInProjects, projectHome } from '../../rows/projects/project-store.ts';
import { getKey, openKey, type SshKeyRow } from '../../rows/ssh-keys/ssh-key-store.ts';
import {
  getConnection,
  tokenIdOf,
  type VcsConnectionRow,
} from '../../rows/vcs-connections/vcs-connection-store.ts';
import { requireHost } from '../git-tokens/require-token-for.ts';
import { tokenCredentials } from '../templates/repository-credentials.ts';

/** Repository and credentials in the request. */
export interface AccessQuery {
  readonly repository: string;
  readonly organizationId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly tokenId?: string | undefined;
  readonly sshKeyIds?: string | undefined;
  readonly vcsConnectionId?: string | undefined;
}

const readingRights: readonly Right[] = ['CREATE_VCS_ENVIRONMENT', 'CREATE_AND_EDIT_TEMPLATES'];

/** Scope of usable credentials; null without an organization, which has none. */
interface CredentialReach {
  readonly organizationId: string;
  /** Projects in which the caller may read repositories; null: the whole organization. */
  readonly projectIds: readonly string[] | null;
}

interface SourceRows {
  readonly token: GitTokenRow | undefined;
  readonly connection: VcsConnectionRow | undefined;
  readonly keys: readonly SshKeyRow[];
}

/** @throws Refusal 400 that names the parameter */
function keyIdsOf(text: string | undefined): string[] {
  if (!text) return [];
  let ids: unknown;
  try {
    ids = JSON.parse(text);
  } catch {
    ids = undefined;
  }
  if (!Array.isArray(ids) || ids.length > 20 || !ids.every((id) => typeof id === 'string'))
    throw badField('query.sshKeyIds', 'must be the text of a JSON array of at most 20 ids, as ["id"]');
  return ids;
}

/** Owners of the ids, regardless of who may use them. */
async function findNamed(context: ActorContext, query: AccessQuery): Promise<SourceRows> {
  const ids = keyIdsOf(query.sshKeyIds);
  const keys = await Promise.all(ids.map(async (id) => getKey(context.db, id)));
  if (keys.includes(undefined)) throw unknownKey();
  const { tokenId } = query;
  const token = tokenId ? await getToken(context.db, tokenId) : undefined;
  if (tokenId && token?.type !== 'GIT') throw unknownToken();
  const { vcsConnectionId } = query;
  const connection = vcsConnectionId ? await getConnection(context.db, vcsConnectionId) : undefined;
  if (vcsConnectionId && !connection) throw unknownConnection();
  return { token, connection, keys: keys.filter((key) => key !== undefined) };
}

const unknownConnection = () =>
  badField('query.vcsConnectionId', 'does not match a VCS connection you have access to');

const unknownKey = () => badField('query.sshKeyIds', 'does not match an SSH key you have access to');

const unknownToken = () => badField('query.tokenId', 'does not match a git token you have access to');

/**
 * The place that the request is about: of the project, else the organization that it names or implies.
 * @throws Refusal 400 for an id that the caller does not know, or an organization that is not that of the project
 */
async function placeOf(context: ActorContext, query: AccessQuery, named: SourceRows): Promise<Place | null> {
  const { access } = context.actor;
  const sent = query.organizationId?.toLowerCase();
  if (sent && !access.isMember(sent)) throw unknownEntity('query.organizationId', 'organization');
  if (query.projectId) {
    const home = await projectHome(context.db, query.projectId);
    if (!home || !access.isMember(home.organizationId)) throw unknownEntity('query.projectId', 'project');
    if (sent && sent !== home.organizationId)
      throw badField('query.organizationId', 'is not the organization of the project in projectId');
    return home;
  }
  const organizationId =
    sent ||
    (named.token ?? named.keys[0] ?? named.connection)?.organization_id ||
    (access.organizationIds.length === 1 ? access.organizationIds[0] : undefined);
  if (organizationId === undefined) return null;
  if (access.isMember(organizationId)) return inOrganization(organizationId);
  throw named.token ? unknownToken() : named.keys[0] ? unknownKey() : unknownConnection();
}

/** @throws Refusal 403 where the caller may read repositories nowhere at that place */
function reachAt({ actor: { access } }: ActorContext, place: Place | null): CredentialReach | null {
  const isAllowed = (right: Right) =>
    place?.projectId ? access.has(right, place) : access.anywhere(right, place?.organizationId);
  if (!readingRights.some(isAllowed)) {
    const message = `This needs the right ${readingRights.join(' or ')}`;
    throw new MissingRight(message, place ?? inOrganization(access.organizationIds[0] ?? ''));
  }
  if (place === null) return null;
  const { organizationId, projectId } = place;
  if (projectId !== null) return { organizationId, projectIds: [projectId] };
  const reaches = readingRights.map((right) => access.reach(right, organizationId));
  if (reaches.some(({ organizationIds }) => organizationIds.length > 0))
    return { organizationId, projectIds: null };
  return { organizationId, projectIds: reaches.flatMap(({ projectIds }) => projectIds) };
}

async function isUsable(
  { db }: ActorContext,
  reach: CredentialReach | null,
  row: Pick<GitTokenRow, 'organization_id' | 'project_ids'>,
): Promise<boolean> {
  if (row.organization_id !== reach?.organizationId) return false;
  return reach.projectIds === null || isAnyInProjects(db, reach.projectIds, row.project_ids);
}

/** The token that is sent to the host: the one that is named, else one of the organization for that host. */
async function credentialsFor(
  context: ActorContext,
  reach: CredentialReach | null,
  repository: string,
  { token, connection }: SourceRows,
): Promise<GitCredentials | undefined> {
  if (token !== undefined) {
    if (!(await isUsable(context, reach, token))) throw unknownToken();
    requireHost(token, repository, 'query.tokenId');
    return tokenCredentials(openToken(context, token));
  }
  if (reach === null) return undefined;
  const held = connection && (await tokenIdOf(context.db, reach, connection.id, repository));
  const ofConnection = held ? await getToken(context.db, held) : undefined;
  if (ofConnection && isTokenFor(ofConnection, repository) && (await isUsable(context, reach, ofConnection)))
    return tokenCredentials(openToken(context, ofConnection));
  const others = (await listTokens(context.db, reach.organizationId, 'GIT')).filter(
    (other) => other.hosts.length > 0 && isTokenFor(other, repository),
  );
  for (const other of others)
    if (await isUsable(context, reach, other)) return tokenCredentials(openToken(context, other));
  return undefined;
}

/**
 * The repository of a request, with what it is read with.
 * @throws Refusal 400 that names the parameter, 403 where the caller may not read repositories there
 */
export async function sourceFor(context: ActorContext, query: AccessQuery): Promise<RepositorySource> {
  const { settings } = context;
  const { repository } = query;
  const allowed = { httpHosts: settings.gitHttpHosts, localPaths: settings.gitLocalPaths };
  const named = await findNamed(context, query);
  const reach = reachAt(context, await placeOf(context, query, named));
  if (named.connection && named.connection.organization_id !== reach?.organizationId)
    throw unknownConnection();
  const kind = readRepository(repository, allowed);
  if ('refusal' in kind) throw badField('query.repository', `is refused: ${kind.refusal}`);
  for (const key of named.keys) if (!(await isUsable(context, reach, key))) throw unknownKey();
  const isWeb = kind.kind === 'https' || kind.kind === 'http';
  const credentials = isWeb ? await credentialsFor(context, reach, repository, named) : undefined;
  const keys = named.keys.map((key) => openKey(context, key));
  return {
    repository,
    ...allowed,
    credentials,
    ...(kind.kind === 'ssh' ? { ssh: { keys, knownHosts: knownHostsFile(settings.gitKnownHosts) } } : {}),
  };
}
