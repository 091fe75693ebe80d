/** Invitations, as part of `user`. Their links are printed alone on standard output. */
import type { Command } from 'commander';
import type { Invitation } from '#contract/people/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { type CommandSession, tell } from '../../session/session.ts';
import { timeText } from '../../terminal/durations.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { findInvitation, projectRoles, roleNames, roleText } from './find-access.ts';

interface InviteFlags {
  readonly role?: string;
  readonly projectRole?: string[];
}

function columnsFor(nameOf: (role: string) => string): TableColumn<Invitation>[] {
  return [
    { head: 'E-MAIL', value: ({ email }) => email },
    { head: 'ROLE', value: ({ permissions }) => nameOf(permissions.organizationRole) },
    { head: 'STATUS', value: ({ status }) => status, isWhole: true },
    { head: 'EXPIRES', value: ({ expiresAt }) => timeText(expiresAt) },
    { head: 'BY', value: ({ createdByUser }) => createdByUser.name, isExtra: true },
    { head: 'ID', value: ({ id }) => id, isId: true },
  ];
}

/** Prints the link alone, and on standard error what it is. */
export async function showLink({ output, isJson }: CommandSession, invitation: Invitation): Promise<void> {
  if (isJson) return output.json(invitation);
  const { email, expiresAt, link } = invitation;
  tell(
    `${plain(email)} is invited until ${timeText(expiresAt)}. Pass on this link, which works once and is shown only now:`,
  );
  await output.line(link);
}

function addInvite(group: Command): void {
  const invite = group
    .command('invite <email>')
    .description('invite a person; prints a one-time link to pass on')
    .option('--role <role>', 'role in the organization: Admin, User, or a custom role', 'User')
    .option(
      '--project-role <project=role>',
      'role in a project and below: Admin, Deployer, Planner, Viewer, or a custom role; may be repeated',
      gather,
    );
  onCall<InviteFlags>(invite, async ({ session, args: [email = ''], options }) => {
    const { client } = session;
    const { id: organizationId } = await findOrganization(session);
    const permissions = {
      organizationRole: await roleText(client, organizationId, options.role ?? 'User'),
      projectsPermissions: await projectRoles(client, organizationId, options.projectRole),
    };
    const body = { email, organizationId, permissions };
    return showLink(session, await client.call('createInvitation', { body }));
  });
}

function addRenewal(group: Command): void {
  const renew = group
    .command('renew-invitation <invitation>')
    .description('replace the link of an invitation (its id or e-mail address), and extend its validity');
  onCall(renew, async ({ session, args: [idOrEmail = ''] }) => {
    const { client } = session;
    const { id } = await findInvitation(client, (await findOrganization(session)).id, idOrEmail);
    return showLink(session, await client.call('resendInvitation', { params: { id } }));
  });
  const revoke = group
    .command('revoke-invitation <invitation>')
    .description('revoke an invitation: its id or e-mail address');
  onCall(revoke, async ({ session, args: [idOrEmail = ''] }) => {
    const { client } = session;
    const { id, email } = await findInvitation(client, (await findOrganization(session)).id, idOrEmail);
    const revoked = await client.call('deleteInvitation', { params: { id } });
    return session.answer(revoked, `The invitation of ${plain(email)} was revoked`);
  });
}

/** @param group the commands of users */
export function addInvitationCommands(group: Command): void {
  addInvite(group);
  onCall(
    group.command('invitations').description('list invitations that were not revoked'),
    async ({ session }) => {
      const { client, output, isJson } = session;
      const { id: organizationId } = await findOrganization(session);
      const all = await client.call('listInvitations', { query: { organizationId } });
      if (isJson) return output.json(all);
      const roles = all.map(({ permissions }) => permissions.organizationRole);
      const nameOf = await roleNames(client, organizationId, roles);
      return output.table(all, columnsFor(nameOf), 'No invitations.');
    },
  );
  addRenewal(group);
}
