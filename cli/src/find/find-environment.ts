/** Finds environments, projects, organizations, agents and credentials by id or exact name. */
import type { Agent } from '#contract/agents/shapes.ts';
import { ApiError, type Client } from '#contract/client/client.ts';
import type { Credential } from '#contract/credentials/shapes.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { Organization } from '#contract/organizations/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { plain } from '../terminal/safe-text.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return uuid.test(text);
}

/** The beginning of an id, as tables show it on a narrow terminal. */
const idBeginning = /^[0-9a-f]{8}(-[0-9a-f-]{0,27})?$/i;

export function isIdBeginning(text: string): boolean {
  return idBeginning.test(text);
}

/** Those with the exact name, or else those whose id begins so. */
export function matching<T extends { readonly id: string; readonly name: string }>(
  all: readonly T[],
  nameOrBeginning: string,
): T[] {
  const named = all.filter(({ name }) => name === nameOrBeginning);
  if (named.length > 0 || !isIdBeginning(nameOrBeginning)) return named;
  return all.filter(({ id }) => id.startsWith(nameOrBeginning.toLowerCase()));
}

/** @returns null if the service does not know it */
export async function orNotFound<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  }
}

/** @throws BadCall that lists the candidates if there are several */
export function only<T extends { id: string; name: string }>(
  candidates: readonly T[],
  what: string,
  name: string,
  describe: (one: T) => string,
): T {
  const [first, ...others] = candidates;
  if (!first)
    throw new BadCall(
      `There is no ${what} "${name}": "envarium ${what} list" shows those that this key has access to.`,
    );
  if (others.length === 0) return first;
  const list = candidates.map((one) => plain(`  ${one.id}  ${describe(one)}`)).join('\n');
  const isName = candidates.every((one) => one.name === name);
  throw new BadCall(
    isName
      ? `${candidates.length} ${what}s are named "${name}". Use an id instead of the name:\n${list}`
      : `${candidates.length} ${what}s have an id that begins with "${name}". Use more of it:\n${list}`,
  );
}

/**
 * @param idOrName an id or its beginning, or an exact name; archived environments count only if no other has the
 * name
 * @throws BadCall if none or several have the name
 */
export async function findEnvironment(
  { client, organizationId }: Pick<CommandSession, 'client' | 'organizationId'>,
  idOrName: string,
): Promise<Environment> {
  const byId = isId(idOrName)
    ? await orNotFound(client.call('getEnvironment', { params: { id: idOrName } }))
    : null;
  if (byId) return byId;
  const named = await client.call('listEnvironments', { query: { name: idOrName, organizationId } });
  const candidates =
    named.length === 0 && isIdBeginning(idOrName)
      ? matching(
          await client.call('listEnvironments', { query: { searchText: idOrName, organizationId } }),
          idOrName,
        )
      : named;
  const active = candidates.filter((each) => !each.isArchived);
  const found = active.length > 0 ? active : candidates;
  const projects = found.length > 1 ? await client.call('listProjects', { query: { organizationId } }) : [];
  const projectName = (id: string) => projects.find((each) => each.id === id)?.name ?? id;
  return only(
    found,
    'environment',
    idOrName,
    (each) => `project ${projectName(each.projectId)}, ${each.status}`,
  );
}

/** The organization that was specified, or the only one that the key has access to. @throws BadCall */
export async function findOrganization({
  client,
  organizationId,
}: Pick<CommandSession, 'client' | 'organizationId'>): Promise<Organization> {
  const all = await client.call('listOrganizations');
  const [first, ...others] =
    organizationId === undefined ? all : all.filter(({ id }) => id === organizationId);
  if (!first)
    throw new BadCall(
      organizationId === undefined
        ? 'This key has access to no organization.'
        : `This key has no access to an organization with id "${organizationId}".`,
    );
  if (others.length === 0) return first;
  const list = all.map((each) => plain(`  ${each.id}  ${each.name}`)).join('\n');
  throw new BadCall(
    `This key has access to ${all.length} organizations: choose one with --organization-id or ENVARIUM_ORGANIZATION_ID.\n${list}`,
  );
}

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findSshKey(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<{ id: string; name: string }> {
  const all = await client.call('listSshKeys', { query: { organizationId } });
  return only(matching(all, idOrName), 'ssh-key', idOrName, ({ name }) => name);
}

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findGitToken(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<{ id: string; name: string }> {
  const all = await client.call('listGitTokens', { query: { organizationId } });
  return only(matching(all, idOrName), 'git-token', idOrName, ({ name }) => name);
}

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findCredential(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<Credential> {
  const all = await client.call('listCredentials', { query: { organizationId } });
  return only(matching(all, idOrName), 'credential', idOrName, ({ type }) => type);
}

/**
 * @param idOrName an id, or an exact name; absent: the only project
 * @throws BadCall unless exactly one matches
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
    return byId ?? only(matching(all, idOrName), 'project', idOrName, (each) => each.hierarchy);
  }
  const [first, ...others] = all;
  if (first && others.length === 0) return first;
  if (!first)
    throw new BadCall('This key has access to no project: create one with "envarium project create".');
  throw new BadCall(
    `There are ${all.length} projects: choose one with --project.\n${all.map((each) => plain(`  ${each.id}  ${each.name}`)).join('\n')}`,
  );
}

/**
 * Each agent once: the API lists the one that organizations share for each of them.
 * @param organizationId undefined: the agents of all organizations that the key has access to
 */
export async function listAgents(
  client: Client,
  organizationId: string | undefined,
  signal?: AbortSignal,
): Promise<Agent[]> {
  const all = await client.call('listAgents', { query: { organizationId }, ...(signal ? { signal } : {}) });
  return all.filter((agent, at) => all.findIndex(({ agentKey }) => agentKey === agent.agentKey) === at);
}

/**
 * @param idOrName its key, id or name; the shared agent also by any name that ends in _DEFAULT
 * @throws BadCall unless exactly one agent is meant
 */
export async function findAgent(
  client: Client,
  organizationId: string | undefined,
  idOrName: string,
): Promise<Agent> {
  const all = await listAgents(client, organizationId);
  const named = all.filter(({ agentKey, id, name }) => [agentKey, id, name].includes(idOrName));
  const isDefault = named.length === 0 && idOrName.endsWith('_DEFAULT');
  const [found, ...others] = isDefault ? all.filter(({ isSaas }) => isSaas) : named;
  if (found && others.length === 0) return found;
  throw new BadCall(
    `${found ? `${others.length + 1} agents are named` : 'There is no agent'} "${idOrName}": "envarium agent list" shows them.`,
  );
}

/** A project by its id or exact name, including archived ones. */
export async function projectOf(session: CommandSession, idOrName: string): Promise<Project> {
  return findProject(session.client, (await findOrganization(session)).id, idOrName, { withArchived: true });
}
