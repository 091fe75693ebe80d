/** Connections to forges that an organization hosts itself. */
import type { Command } from 'commander';
import { type VcsConnectionType, vcsConnectionTypes } from '#contract/vcs-connections/connection-types.ts';
import type { VcsConnection } from '#contract/vcs-connections/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { findGitToken, findOrganization, matching, only } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { plain } from '../terminal/safe-text.ts';
import { optionOf } from '../terminal/suggest.ts';
import type { TableColumn } from '../terminal/table.ts';
import { usesText } from './repository-credentials.ts';

interface ConnectionChanges {
  readonly name?: string;
  readonly agent?: string;
  readonly gitToken?: string | false;
}

interface CreateConnectionFlags {
  readonly url: string;
  readonly type: VcsConnectionType;
  readonly agent?: string;
  readonly gitToken?: string;
}

const columns: TableColumn<VcsConnection>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TYPE', value: ({ type }) => type },
  { head: 'URL', value: ({ url }) => url },
  { head: 'AGENT', value: ({ vcsAgentKey }) => vcsAgentKey, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

/** @throws BadCall unless exactly one has the id, its beginning or the exact name */
export async function findConnection(
  { client }: CommandSession,
  organizationId: string,
  idOrName: string,
): Promise<VcsConnection> {
  const all = await client.call('listVcsConnections', { query: { organizationId } });
  return only(matching(all, idOrName), 'vcs-connection', idOrName, ({ name }) => name);
}

async function tokenIdOf({ client }: CommandSession, organizationId: string, idOrName: string | undefined) {
  return idOrName === undefined ? undefined : (await findGitToken(client, organizationId, idOrName)).id;
}

function addChanging(group: Command): void {
  const create = group
    .command('create <name>')
    .description('store a connection to a forge')
    .requiredOption('--url <address>', 'https address of the forge')
    .addOption(optionOf('--type <type>', 'software of the forge', vcsConnectionTypes).makeOptionMandatory())
    .option('--agent <agent>', 'key of the agent that reaches it (default: the default agent)')
    .option('--git-token <git-token>', 'id or exact name of the git token for its repositories');
  onCall<CreateConnectionFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { url, type, agent: vcsAgentKey, gitToken } = options;
    const tokenId = await tokenIdOf(session, organizationId, gitToken);
    const body = { organizationId, name, url, type, vcsAgentKey, tokenId };
    const connection = await session.client.call('createVcsConnection', { body });
    return session.answer(connection, () => `VCS connection ${plain(name)} was stored: ${connection.id}`);
  });
  const update = group
    .command('update <vcs-connection>')
    .description('change a connection; omitted options are unchanged')
    .option('--name <name>', 'its new name')
    .option('--agent <agent>', 'key of the agent that reaches it')
    .option('--git-token <git-token>', 'id or exact name of the git token for its repositories')
    .option('--no-git-token', 'its repositories are read without a token');
  onCall<ConnectionChanges>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { id } = await findConnection(session, organizationId, idOrName);
    const { name, agent: vcsAgentKey, gitToken } = options;
    const hasToken = typeof gitToken === 'string';
    const tokenId =
      gitToken === false ? null : await tokenIdOf(session, organizationId, hasToken ? gitToken : undefined);
    const connection = await session.client.call('updateVcsConnection', {
      params: { id },
      body: { name, vcsAgentKey, tokenId },
    });
    return session.answer(connection, () => `VCS connection ${plain(connection.name)} was updated`);
  });
}

export function addVcsConnectionCommands(program: Command): void {
  const group = program
    .command('vcs-connection')
    .description('forges that an organization hosts itself, with the token of their repositories');
  onCall(group.command('list').description('list connections'), async ({ session }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listVcsConnections', { query: { organizationId } });
    return session.list(all, columns, 'No VCS connections.');
  });
  addChanging(group);
  onCall(
    group.command('show <vcs-connection>').description('show a connection, and what uses it'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await findConnection(session, (await findOrganization(session)).id, idOrName);
      const connection = await session.client.call('getVcsConnection', { params: { id } });
      if (session.isJson) return session.output.json(connection);
      return session.output.fields([
        ['Name', connection.name],
        ['Id', connection.id],
        ['Type', connection.type],
        ['Url', connection.url],
        ['Agent', connection.vcsAgentKey],
        ['Git token', connection.tokenId ?? 'none'],
        ['Used by', usesText(connection.usedBy)],
      ]);
    },
  );
  onCall(
    group.command('delete <vcs-connection>').description('delete a connection: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await findConnection(session, (await findOrganization(session)).id, idOrName);
      const deleted = await session.client.call('deleteVcsConnection', { params: { id } });
      return session.answer(deleted, `VCS connection ${plain(name)} was deleted`);
    },
  );
  const installation = group
    .command('installation <address>')
    .description('show the GitHub installation that templates name for repositories of this owner');
  onCall(installation, async ({ session, args: [repository = ''] }) => {
    const { id: organizationId } = await findOrganization(session);
    const found = await session.client.call('getVcsToken', {
      params: { vcsType: 'github' },
      query: { organizationId, repository },
    });
    return session.answer(found, () => String(found.token));
  });
}
