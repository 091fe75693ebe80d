/** `user`: the members of an organization, and how people become members. */
import type { Command } from 'commander';
import type { Member } from '#contract/organizations/shapes.ts';
import type { CreatedAdmin } from '#contract/people/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { type CommandSession, tell } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { findMember, roleNames, roleText } from './find-access.ts';
import { addInvitationCommands, showLink } from './invitations.ts';

interface ListUsersFlags {
  readonly search?: string;
  readonly keys: boolean;
}

interface AdminFlags {
  readonly name?: string;
}

function columnsFor(nameOf: (role: string) => string): TableColumn<Member>[] {
  return [
    { head: 'NAME', value: ({ user }) => user.name },
    { head: 'E-MAIL', value: ({ user }) => (user.app_metadata?.isApiKey ? '' : user.email) },
    { head: 'KIND', value: ({ user }) => (user.app_metadata?.isApiKey ? 'key' : 'person'), isExtra: true },
    { head: 'ROLE', value: ({ role }) => nameOf(role) },
    { head: 'STATUS', value: ({ status }) => status },
    { head: 'LAST LOGIN', value: ({ user }) => timeText(user.last_login), isExtra: true },
    { head: 'ID', value: ({ user }) => user.user_id, isId: true },
  ];
}

function addList(group: Command): void {
  const list = group
    .command('list')
    .description('list the members of the organization: people and API keys')
    .option('--search <text>', 'only those with this text in the name or the e-mail address')
    .option('--no-keys', 'only people');
  onCall<ListUsersFlags>(list, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const { id } = await findOrganization(session);
    const query = { query: options.search, ...(options.keys ? {} : { includeApiKeys: false }) };
    const members = await client.call('listMembers', { params: { id }, query });
    if (isJson) return output.json(members);
    const nameOf = await roleNames(
      client,
      id,
      members.map(({ role }) => role),
    );
    return output.table(members, columnsFor(nameOf), 'No members.');
  });
}

function addRole(group: Command): void {
  const role = group
    .command('set-role <user> <role>')
    .description(
      'change the role of a member in the organization: Admin, User, or the id or name of a custom role',
    );
  onCall(role, async ({ session, args: [idOrName = '', roleIdOrName = ''] }) => {
    const { client } = session;
    const { id } = await findOrganization(session);
    const member = await findMember(client, id, idOrName);
    const body = await roleText(client, id, roleIdOrName);
    const changed = await client.call('setMemberRole', { params: { id, userId: member.id }, body });
    return session.answer(changed, `${plain(member.name)} has the role ${plain(roleIdOrName)}`);
  });
}

function addRemove(group: Command): void {
  const remove = group
    .command('remove <user>')
    .description('remove a member with all roles and teams: id, e-mail address or exact name');
  onCall(remove, async ({ session, args: [idOrName = ''] }) => {
    const { client } = session;
    const { id } = await findOrganization(session);
    const member = await findMember(client, id, idOrName);
    const removed = await client.call('removeMember', { params: { id, userId: member.id } });
    return session.answer(removed, `${plain(member.name)} is no longer in the organization`);
  });
}

/** Only the link goes to standard output, for `$(…)`. */
async function showAdmin(session: CommandSession, email: string, created: CreatedAdmin): Promise<void> {
  if (session.isJson) return session.output.json(created);
  if (created.invitation) return showLink(session, created.invitation);
  tell(`${plain(email)} has an account, and is an administrator now.`);
}

function addCreateAdmin(group: Command): void {
  const create = group
    .command('create-admin <email>')
    .description(
      'make a person an administrator, with the first key of the installation; prints a one-time link to pass on',
    )
    .option('--name <name>', 'name of the person');
  onCall<AdminFlags>(create, async ({ session, args: [email = ''], options }) => {
    const { organizationId } = session;
    const body = { email, name: options.name, organizationId };
    return showAdmin(session, email, await session.client.call('createAdmin', { body }));
  });
}

export function addUserCommands(program: Command): void {
  const group = program
    .command('user')
    .alias('users')
    .description('members of the organization, invitations, administrators');
  addList(group);
  addRole(group);
  addRemove(group);
  addInvitationCommands(group);
  addCreateAdmin(group);
}
