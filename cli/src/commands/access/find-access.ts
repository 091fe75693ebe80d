/** Finds keys, people, teams and roles as the command line names them. */
import type { ApiKey, PersonalApiKey } from '#contract/api-keys/shapes.ts';
import { ApiError, type CallInput, type Client } from '#contract/client/client.ts';
import type { Invitation } from '#contract/people/shapes.ts';
import type { Role } from '#contract/roles/shapes.ts';
import { builtInRoles } from '#contract/schema/built-in-roles.ts';
import type { Team } from '#contract/teams/shapes.ts';
import { lifetimeOf } from '../../call/lifetime.ts';
import { findProject, matching, only } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';

/** @param idOrName its id, the user name of its credentials, or its exact name @throws BadCall unless it is one */
export function findKey<Key extends ApiKey | PersonalApiKey>(all: readonly Key[], idOrName: string): Key {
  const byId = all.filter(({ apiKeyId }) => apiKeyId === idOrName);
  return only(byId.length > 0 ? byId : matching(all, idOrName), 'key', idOrName, ({ name }) => name);
}

/** @param idOrName its id or the e-mail address of the person @throws BadCall unless exactly one matches */
export async function findInvitation(
  client: Client,
  organizationId: string,
  idOrEmail: string,
): Promise<Invitation> {
  const all = await client.call('listInvitations', { query: { organizationId } });
  const isMeant = ({ id, email }: Invitation) =>
    id === idOrEmail || email.toLowerCase() === idOrEmail.toLowerCase();
  const found = all.filter(isMeant).find(({ status }) => status !== 'Accepted') ?? all.find(isMeant);
  if (found) return found;
  throw new BadCall(`There is no invitation "${idOrEmail}": "envarium user invitations" shows them.`);
}

/** `project=role` texts. @throws BadCall for one of another form, or an unknown project */
export async function projectRoles(
  client: Client,
  organizationId: string,
  texts: readonly string[] | undefined,
): Promise<{ projectId: string; projectRole: string }[] | undefined> {
  if (texts === undefined) return undefined;
  const found: { projectId: string; projectRole: string }[] = [];
  for (const text of texts) {
    const at = text.lastIndexOf('=');
    if (at < 1 || at === text.length - 1)
      throw new BadCall(`--project-role must be a project and a role such as Shop=Deployer, not "${text}".`);
    const { id: projectId } = await findProject(client, organizationId, text.slice(0, at));
    const projectRole = await roleText(client, organizationId, text.slice(at + 1));
    found.push({ projectId, projectRole });
  }
  return found;
}

/** When something ends, as the service takes it: null for never. @throws BadCall */
export function expiryOf(flag: string, text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined;
  const lifetime = lifetimeOf(flag, text);
  if (lifetime.type === 'INFINITE') return null;
  if (lifetime.type === 'DATE') return lifetime.value;
  return new Date(Date.now() + Number(lifetime.value) * 3_600_000).toISOString();
}

/** The names of the built-in roles, wherever they are assigned. */
const builtInNames: ReadonlySet<string> = new Set(Object.values(builtInRoles).flatMap(Object.keys));

/** A custom role. @param idOrName its id or exact name @throws BadCall unless exactly one matches */
export async function findRole(client: Client, organizationId: string, idOrName: string): Promise<Role> {
  const all = await client.call('listRoles', { query: { organizationId } });
  return only(matching(all, idOrName), 'role', idOrName, ({ name }) => name);
}

/** A role as the service accepts it. @param idOrName the name of a built-in role, or the id or name of a custom one */
export async function roleText(client: Client, organizationId: string, idOrName: string): Promise<string> {
  return builtInNames.has(idOrName) ? idOrName : (await findRole(client, organizationId, idOrName)).id;
}

/** @returns what to call a role: the name of a built-in one as it is, that of a custom one instead of its id */
export async function roleNames(
  client: Client,
  organizationId: string,
  roles: readonly string[],
): Promise<(role: string) => string> {
  if (roles.every((role) => builtInNames.has(role))) return (role) => role;
  // A caller who may not see custom roles sees their ids.
  const custom = await orRefused(client.call('listRoles', { query: { organizationId } }));
  const names = new Map(custom?.map(({ id, name }) => [id, name]));
  return (role) => names.get(role) ?? role;
}

async function orRefused<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden') return null;
    throw error;
  }
}

/** Name of a person or a key in commands. */
export interface Principal {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** A member: a person or a key. @param idOrName id, e-mail address or exact name @throws BadCall unless it is one */
export async function findMember(
  client: Client,
  organizationId: string,
  idOrName: string,
): Promise<Principal> {
  const members = await client.call('listMembers', { params: { id: organizationId } });
  const all = members.map(({ user }) => ({
    id: user.user_id ?? '',
    name: user.name ?? user.email ?? '',
    email: user.email ?? '',
  }));
  const exact = all.filter(
    ({ id, email }) => id === idOrName || email.toLowerCase() === idOrName.toLowerCase(),
  );
  return only(
    exact.length > 0 ? exact : matching(all, idOrName),
    'user',
    idOrName,
    ({ name, email }) => `${name} ${email}`,
  );
}

/** As many as the service returns at once. */
const mostTeams = 1000;

type TeamQuery = NonNullable<CallInput<'listTeams'>['query']>;

/** All teams that match, page by page, whichever form the service answers them in. @param most how many to return */
export async function allTeams(
  client: Client,
  organizationId: string,
  query: TeamQuery,
  most = Number.POSITIVE_INFINITY,
): Promise<Team[]> {
  const teams: Team[] = [];
  let offset: string | undefined;
  do {
    const limit = Math.min(mostTeams, most - teams.length);
    const { reply, headers } = await client.send('listTeams', {
      params: { organizationId },
      query: { ...query, limit, offset },
    });
    const page = Array.isArray(reply)
      ? { teams: reply, nextPageKey: headers.get('x-next-page-key') ?? undefined }
      : reply;
    teams.push(...page.teams);
    offset = page.nextPageKey || undefined;
  } while (offset !== undefined && teams.length < most);
  return teams;
}

/** @param idOrName id or exact name @throws BadCall unless exactly one team matches */
export async function findTeam(client: Client, organizationId: string, idOrName: string): Promise<Team> {
  const query = { excludeFields: 'users' };
  const candidates = await allTeams(client, organizationId, { ...query, name: idOrName });
  const found = matching(candidates, idOrName);
  const all = found.length > 0 ? found : await allTeams(client, organizationId, query);
  return only(matching(all, idOrName), 'team', idOrName, ({ name }) => name);
}
