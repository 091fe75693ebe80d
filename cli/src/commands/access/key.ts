/** `key`: API keys of the organization and, with --personal, of the caller. Secrets are printed alone. */
import type { Command } from 'commander';
import type { ApiKey, PersonalApiKey } from '#contract/api-keys/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import { type CommandSession, tell } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { expiryOf, findKey, findMember, projectRoles, roleNames, roleText } from './find-access.ts';

type AnyKey = ApiKey | PersonalApiKey;

interface WhoseFlags {
  readonly personal?: boolean;
}

interface LimitFlags {
  readonly expires?: string;
  readonly network?: string[];
}

interface CreateKeyFlags extends WhoseFlags, LimitFlags {
  readonly role?: string;
  readonly projectRole?: string[];
  readonly description?: string;
  readonly owner?: string;
}

interface UpdateKeyFlags extends LimitFlags {
  readonly name?: string;
  readonly description?: string;
  readonly owner?: string | false;
  readonly allNetworks?: boolean;
}

const personalOption = ['--personal', 'a key of your own, which acts as you'] as const;
const expiresOption = [
  '--expires <lifetime>',
  'until when it is accepted: 12h, 30d, 8w, a time such as 2027-01-31, or infinite',
] as const;
const networkOption = [
  '--network <network>',
  'address or network that it is accepted from, such as 192.0.2.0/24; may be repeated',
] as const;

const commonColumns: TableColumn<AnyKey>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'KEY', value: ({ apiKeyId }) => apiKeyId },
  { head: 'EXPIRES', value: ({ expiresAt }) => (expiresAt ? timeText(expiresAt) : 'never'), isExtra: true },
  { head: 'LAST USED', value: ({ lastUsedAt }) => timeText(lastUsedAt), isExtra: true },
  { head: 'SECRETS', value: ({ secrets }) => secrets.length, isExtra: true },
  { head: 'NETWORKS', value: ({ networks }) => networks.join(', ') || 'all', isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true, isExtra: true },
];

const secretColumns: TableColumn<AnyKey['secrets'][number]>[] = [
  { head: 'SECRET', value: ({ id }) => id, isWhole: true },
  { head: 'CREATED', value: ({ createdAt }) => timeText(createdAt) },
  { head: 'LAST USED', value: ({ lastUsedAt }) => timeText(lastUsedAt) },
];

async function listKeys(session: CommandSession, { personal }: WhoseFlags): Promise<AnyKey[]> {
  if (personal) return session.client.call('listPersonalApiKeys');
  const { id: organizationId } = await findOrganization(session);
  return session.client.call('listApiKeys', { query: { organizationId } });
}

/** @throws BadCall unless exactly one key matches */
async function find(session: CommandSession, whose: WhoseFlags, idOrName: string): Promise<AnyKey> {
  return findKey(await listKeys(session, whose), idOrName);
}

/** Prints the secret alone, and on standard error what it is. */
async function showSecret(
  { output, isJson }: CommandSession,
  reply: { readonly apiKeyId: string; readonly apiKeySecret: string },
  what: string,
): Promise<void> {
  if (isJson) return output.json(reply);
  tell(`${what} The user name is ${plain(reply.apiKeyId)}. The secret is shown only now:`);
  await output.line(reply.apiKeySecret);
}

async function showKey({ client, output, isJson }: CommandSession, key: AnyKey): Promise<void> {
  if (isJson) return output.json(key);
  const ofOrganization = 'organizationRole' in key ? key : null;
  const role = ofOrganization?.organizationRole;
  const organizationId = ofOrganization?.organizationId ?? '';
  const nameOf = await roleNames(client, organizationId, role === undefined ? [] : [role]);
  await output.fields([
    ['Name', key.name],
    ['Key', key.apiKeyId],
    ['Id', key.id],
    ['Description', ofOrganization?.description],
    ['Role', role === undefined ? undefined : nameOf(role)],
    ['Owner', ofOrganization?.ownerId],
    ['Expires', key.expiresAt ? timeText(key.expiresAt) : 'never'],
    ['Networks', key.networks.join(', ') || 'all'],
    ['Last used', timeText(key.lastUsedAt)],
    ['Created', `${timeText(key.createdAt)} by ${key.createdByUser?.name ?? key.createdBy}`],
  ]);
  await output.line();
  return output.table(key.secrets, secretColumns, 'No secrets.');
}

function addReading(group: Command): void {
  const list = group
    .command('list')
    .description('list the API keys of the organization')
    .option(...personalOption);
  onCall<WhoseFlags>(list, async ({ session, options }) => {
    const all = await listKeys(session, options);
    if (session.isJson) return session.output.json(all);
    const roles = all.flatMap((key) => ('organizationRole' in key ? [key.organizationRole] : []));
    const organizationId = all.find((key) => 'organizationId' in key)?.organizationId ?? '';
    const nameOf = await roleNames(session.client, organizationId, roles);
    const role: TableColumn<AnyKey> = {
      head: 'ROLE',
      value: (key) => ('organizationRole' in key ? nameOf(key.organizationRole) : ''),
    };
    const columns = options.personal ? commonColumns : commonColumns.toSpliced(1, 0, role);
    return session.output.table(all, columns, 'No API keys.');
  });
  const show = group
    .command('show <key>')
    .description('show a key with its secrets, without their values: its id, user name or exact name')
    .option(...personalOption);
  onCall<WhoseFlags>(show, async ({ session, args: [idOrName = ''], options }) => {
    const key = await find(session, options, idOrName);
    if (options.personal) return showKey(session, key);
    return showKey(session, await session.client.call('getApiKey', { params: { id: key.id } }));
  });
}

/** @throws BadCall for options that a personal key does not have */
async function createPersonal(session: CommandSession, name: string, options: CreateKeyFlags): Promise<void> {
  const { role, projectRole, description, owner } = options;
  const others = [role && '--role', projectRole && '--project-role', description && '--description'];
  const [wrong] = [...others, owner && '--owner'].filter(Boolean);
  if (wrong)
    throw new BadCall(`${wrong} and --personal exclude each other: a personal key has your own rights.`);
  const body = { name, expiresAt: expiryOf('--expires', options.expires), networks: options.network };
  const key = await session.client.call('createPersonalApiKey', { body });
  return showSecret(session, key, `Personal key ${plain(name)} was created.`);
}

async function createForOrganization(
  session: CommandSession,
  name: string,
  options: CreateKeyFlags,
): Promise<void> {
  const { client } = session;
  const { id: organizationId } = await findOrganization(session);
  const { role, projectRole, description, owner } = options;
  const organizationRole = await roleText(client, organizationId, role ?? 'User');
  const projectsPermissions = await projectRoles(client, organizationId, projectRole);
  const body = {
    organizationId,
    name,
    description,
    permissions: { organizationRole, projectsPermissions },
    ownerId: owner === undefined ? undefined : (await findMember(client, organizationId, owner)).id,
    expiresAt: expiryOf('--expires', options.expires),
    networks: options.network,
  };
  const key = await client.call('createApiKey', { body });
  return showSecret(session, key, `API key ${plain(name)} was created.`);
}

function addCreate(group: Command): void {
  const create = group
    .command('create <name>')
    .description('create an API key of the organization, which is a user of its own; prints its secret')
    .option('--role <role>', 'role in the organization: Admin, User, or a custom role (default: User)')
    .option(
      '--project-role <project=role>',
      'role in a project and below: Admin, Deployer, Planner, Viewer, or a custom role; may be repeated',
      gather,
    )
    .option('--description <text>', 'what it is for')
    .option('--owner <user>', 'member who owns it')
    .option(...expiresOption)
    .option(...networkOption, gather)
    .option(...personalOption);
  onCall<CreateKeyFlags>(create, ({ session, args: [name = ''], options }) =>
    options.personal ? createPersonal(session, name, options) : createForOrganization(session, name, options),
  );
}

function addUpdate(group: Command): void {
  const update = group
    .command('update <key>')
    .description('change an API key of the organization; omitted options are unchanged')
    .option('--name <name>', 'new name')
    .option('--description <text>', 'what it is for')
    .option('--owner <user>', 'member who owns it')
    .option('--no-owner', 'no owner')
    .option(...expiresOption)
    .option(...networkOption, gather)
    .option('--all-networks', 'it is accepted from everywhere');
  onCall<UpdateKeyFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    if (options.network && options.allNetworks)
      throw new BadCall('--network and --all-networks exclude each other.');
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const { id } = await find(session, {}, idOrName);
    const { name, description, owner, expires, network, allNetworks } = options;
    const ownerId = typeof owner === 'string' ? (await findMember(client, organizationId, owner)).id : null;
    const body = {
      name,
      description,
      // Without either option, commander says true.
      ...(typeof owner === 'string' || owner === false ? { ownerId } : {}),
      expiresAt: expiryOf('--expires', expires),
      networks: allNetworks ? [] : network,
    };
    return showKey(session, await client.call('updateApiKey', { params: { id }, body }));
  });
}

function addRotation(group: Command): void {
  const rotate = group
    .command('rotate <key>')
    .description('add a second secret to a key and print it; delete the first one once it is no longer used')
    .option(...personalOption);
  onCall<WhoseFlags>(rotate, async ({ session, args: [idOrName = ''], options }) => {
    const { id, name } = await find(session, options, idOrName);
    const input = { params: { id } };
    const made = options.personal
      ? await session.client.call('addPersonalApiKeySecret', input)
      : await session.client.call('addApiKeySecret', input);
    return showSecret(session, made, `Key ${plain(name)} has two secrets.`);
  });
  const remove = group
    .command('delete-secret <key> <secret>')
    .description('delete one of the two secrets of a key: its id, which "key show" prints')
    .option(...personalOption);
  onCall<WhoseFlags>(remove, async ({ session, args: [idOrName = '', secret = ''], options }) => {
    const { client } = session;
    const { id, name, secrets } = await find(session, options, idOrName);
    const found = secrets.filter((each) => each.id.startsWith(secret.toLowerCase()));
    const secretId = found.length === 1 ? found[0]?.id : undefined;
    if (secretId === undefined)
      throw new BadCall(
        `Key "${name}" has no such secret: "envarium key show" prints the ids of its secrets.`,
      );
    const input = { params: { id, secretId } };
    const deleted = options.personal
      ? await client.call('deletePersonalApiKeySecret', input)
      : await client.call('deleteApiKeySecret', input);
    return session.answer(deleted, `A secret of key ${plain(name)} was deleted`);
  });
}

function addRevoke(group: Command): void {
  const revoke = group
    .command('revoke <key>')
    .alias('delete')
    .description('delete a key: it is refused from now on')
    .option(...personalOption);
  onCall<WhoseFlags>(revoke, async ({ session, args: [idOrName = ''], options }) => {
    const { client } = session;
    const { id, name } = await find(session, options, idOrName);
    const input = { params: { id } };
    const deleted = options.personal
      ? await client.call('deletePersonalApiKey', input)
      : await client.call('deleteApiKey', input);
    return session.answer(deleted, `Key ${plain(name)} was revoked`);
  });
}

export function addKeyCommands(program: Command): void {
  const group = program.command('key').alias('keys').description('API keys');
  addReading(group);
  addCreate(group);
  addUpdate(group);
  addRotation(group);
  addRevoke(group);
}
