/** An environment by its id or its exact name, a project and an organization likewise. */
import { ApiError, type Client } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Organization } from '#contract/organizations/operations.ts';
import type { Project } from '#contract/projects/operations.ts';
import { BadCall } from './exit-codes.ts';
import type { Session } from './session/session.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return uuid.test(text);
}

/** @returns null where the service knows no such thing */
export async function orNotFound<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  }
}

/** @throws BadCall that lists what the name could mean */
function only<T extends { id: string }>(
  found: readonly T[],
  what: string,
  name: string,
  describe: (one: T) => string,
): T {
  const [first, ...others] = found;
  if (!first)
    throw new BadCall(
      `There is no ${what} "${name}": "envarium ${what} list" shows those that this key can see.`,
    );
  if (others.length === 0) return first;
  const list = found.map((one) => `  ${one.id}  ${describe(one)}`).join('\n');
  throw new BadCall(`${found.length} ${what}s are named "${name}": give the id of one of them.\n${list}`);
}

/**
 * @param idOrName an id, or an exact name; archived environments count only where no other has the name
 * @throws BadCall for a name that none or several have
 */
export async function findEnvironment(
  { client, organizationId }: Pick<Session, 'client' | 'organizationId'>,
  idOrName: string,
): Promise<Environment> {
  const byId = isId(idOrName)
    ? await orNotFound(client.call('getEnvironment', { params: { id: idOrName } }))
    : null;
  if (byId) return byId;
  const named = await client.call('listEnvironments', { query: { name: idOrName, organizationId } });
  const active = named.filter((each) => !each.isArchived);
  return only(
    active.length > 0 ? active : named,
    'environment',
    idOrName,
    (each) => `${each.status}, project ${each.projectId}`,
  );
}

/**
 * The organization that is spoken of: the one that was given, else the only one that the key can see. @throws
 * BadCall
 */
export async function findOrganization({
  client,
  organizationId,
}: Pick<Session, 'client' | 'organizationId'>): Promise<Organization> {
  const all = await client.call('listOrganizations');
  const [first, ...others] =
    organizationId === undefined ? all : all.filter(({ id }) => id === organizationId);
  if (!first)
    throw new BadCall(
      organizationId === undefined
        ? 'This key can see no organization.'
        : `This key can see no organization with id "${organizationId}".`,
    );
  if (others.length === 0) return first;
  const list = all.map((each) => `  ${each.id}  ${each.name}`).join('\n');
  throw new BadCall(
    `This key can see ${all.length} organizations: choose one with --organization-id or ENVARIUM_ORGANIZATION_ID.\n${list}`,
  );
}

/** @throws BadCall where none or several have the id or exact name */
export async function findSshKey(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<{ id: string; name: string }> {
  const all = await client.call('listSshKeys', { query: { organizationId } });
  return only(
    all.filter(({ id, name }) => id === idOrName || name === idOrName),
    'ssh-key',
    idOrName,
    ({ name }) => name,
  );
}

/** @throws BadCall where none or several have the id or exact name */
export async function findGitToken(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<{ id: string; name: string }> {
  const all = await client.call('listGitTokens', { query: { organizationId } });
  return only(
    all.filter(({ id, name }) => id === idOrName || name === idOrName),
    'git-token',
    idOrName,
    ({ name }) => name,
  );
}

/**
 * @param idOrName an id, or an exact name; absent: the only project that there is
 * @throws BadCall where none or several fit
 */
export async function findProject(
  client: Client,
  organizationId: string,
  idOrName: string | undefined,
  { withArchived = false } = {},
): Promise<Project> {
  const known = await client.call('listProjects', { query: { organizationId } });
  const all = known.filter((each) => withArchived || !each.isArchived);
  if (idOrName !== undefined) {
    const byId = all.find(({ id }) => id === idOrName);
    return (
      byId ??
      only(
        all.filter(({ name }) => name === idOrName),
        'project',
        idOrName,
        (each) => each.hierarchy,
      )
    );
  }
  const [first, ...others] = all;
  if (first && others.length === 0) return first;
  if (!first) throw new BadCall('This key can see no project: make one with "envarium project create".');
  throw new BadCall(
    `There are ${all.length} projects: choose one with --project.\n${all.map((each) => `  ${each.id}  ${each.name}`).join('\n')}`,
  );
}
