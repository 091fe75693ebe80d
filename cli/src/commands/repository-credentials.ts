/** Credentials of repositories: git tokens and ssh keys. Secrets come from a file or standard input. */
import type { Command } from 'commander';
import type { CredentialUse, GitToken } from '#contract/git-tokens/shapes.ts';
import type { SshKey } from '#contract/ssh-keys/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { textFromFile } from '../call/read-input.ts';
import { findGitToken, findOrganization, findProject, findSshKey } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';

interface RepositoryCredentialFlags extends ProjectFlags {
  readonly valueFile: string;
}

interface ProjectFlags {
  readonly project?: string[];
}

interface TokenChanges extends ProjectFlags {
  readonly name?: string;
  readonly valueFile?: string;
  readonly host?: string[];
  readonly allProjects?: boolean;
}

const projectOption = [
  '--project <project...>',
  'projects, with everything below them, whose environments may use it (default: all)',
] as const;

/** The projects that were named, by id or name; undefined: none were. */
async function projectsOf(
  session: CommandSession,
  organizationId: string,
  { project }: ProjectFlags,
): Promise<string[] | undefined> {
  if (project === undefined) return undefined;
  const found = await Promise.all(project.map((each) => findProject(session.client, organizationId, each)));
  return found.map(({ id }) => id);
}

/** Users of a credential or a connection, in one line. */
export function usesText(uses: readonly CredentialUse[]): string {
  return uses.map(({ type, name }) => `${useWords[type]} ${plain(name)}`).join(', ') || 'nothing';
}

const useWords = {
  template: 'template',
  environment: 'environment',
  module: 'module',
  vcsConnection: 'VCS connection',
} as const;

const tokenColumns: TableColumn<GitToken>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const keyColumns: TableColumn<SshKey>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'BY', value: ({ user }) => user.name, isExtra: true },
  { head: 'CHANGED', value: ({ updatedAt }) => timeText(updatedAt), isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

function addTokenUpdate(group: Command): void {
  const update = group
    .command('update <git-token>')
    .description('change a git token; omitted options are unchanged')
    .option('--name <name>', 'its new name')
    .option('--value-file <file>', 'file that contains the new token; - for standard input')
    .option('--host <host...>', 'hosts that it is sent to')
    .option(...projectOption)
    .option('--all-projects', 'all projects of the organization may use it');
  onCall<TokenChanges>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { id, name } = await findGitToken(session.client, organizationId, idOrName);
    const { valueFile } = options;
    const token = await session.client.call('updateGitToken', {
      params: { id },
      body: {
        name: options.name,
        hosts: options.host,
        value: valueFile === undefined ? undefined : textFromFile('--value-file', valueFile).trim(),
        projectIds: options.allProjects ? [] : await projectsOf(session, organizationId, options),
      },
    });
    return session.answer(token, `Git token ${plain(name)} was updated`);
  });
}

function addGitTokens(program: Command): void {
  const group = program.command('git-token').description('tokens for reading repositories over https');
  onCall(group.command('list').description('list git tokens'), async ({ session }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listGitTokens', { query: { organizationId } });
    return session.list(all, tokenColumns, 'No git tokens.');
  });
  const create = group
    .command('create <name>')
    .description('store a token, or user:token')
    .option('--value-file <file>', 'file that contains it; - for standard input', '-')
    .option(...projectOption);
  onCall<RepositoryCredentialFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const projectIds = await projectsOf(session, organizationId, options);
    const value = textFromFile('--value-file', options.valueFile).trim();
    const body = { organizationId, name, value, projectIds };
    const token = await session.client.call('createGitToken', { body });
    return session.answer(token, () => `Git token ${plain(name)} was stored: ${token.id}`);
  });
  addTokenUpdate(group);
  onCall(
    group.command('show <git-token>').description('show a git token, without its value'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await findGitToken(session.client, (await findOrganization(session)).id, idOrName);
      const token = await session.client.call('getGitToken', { params: { id } });
      if (session.isJson) return session.output.json(token);
      return session.output.fields([
        ['Name', token.name],
        ['Id', token.id],
        ['Hosts', token.hosts.join(', ')],
        ['Projects', token.projectIds.join(', ') || 'all'],
        ['Used by', usesText(token.usedBy)],
      ]);
    },
  );
  onCall(
    group.command('delete <git-token>').description('delete a git token: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await findGitToken(session.client, (await findOrganization(session)).id, idOrName);
      const deleted = await session.client.call('deleteGitToken', { params: { id } });
      return session.answer(deleted, `Git token ${plain(name)} was deleted`);
    },
  );
}

/** A private key must end with a line end. */
const keyText = (file: string) => `${textFromFile('--value-file', file).trimEnd()}\n`;

function addSshKeyShow(group: Command): void {
  onCall(
    group.command('show <ssh-key>').description('show an ssh key, without its value'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await findSshKey(session.client, (await findOrganization(session)).id, idOrName);
      const key = await session.client.call('getSshKey', { params: { id } });
      if (session.isJson) return session.output.json(key);
      return session.output.fields([
        ['Name', key.name],
        ['Id', key.id],
        ['By', key.user.name],
        ['Changed', timeText(key.updatedAt)],
        ['Projects', key.projectIds.join(', ') || 'all'],
        ['Used by', usesText(key.usedBy)],
      ]);
    },
  );
}

function addSshKeys(program: Command): void {
  const group = program.command('ssh-key').description('private keys for reading repositories over ssh');
  onCall(group.command('list').description('list ssh keys'), async ({ session }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listSshKeys', { query: { organizationId } });
    return session.list(all, keyColumns, 'No ssh keys.');
  });
  const create = group
    .command('create <name>')
    .description('store a private key without a passphrase')
    .option('--value-file <file>', 'file that contains it; - for standard input', '-')
    .option(...projectOption);
  onCall<RepositoryCredentialFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const projectIds = await projectsOf(session, organizationId, options);
    const body = { organizationId, name, value: keyText(options.valueFile), projectIds };
    const key = await session.client.call('createSshKey', { body });
    return session.answer(key, () => `Ssh key ${plain(name)} was stored: ${key.id}`);
  });
  const update = group
    .command('update <ssh-key>')
    .description('replace the private key')
    .option('--value-file <file>', 'file that contains the new one; - for standard input', '-');
  onCall<RepositoryCredentialFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id, name } = await findSshKey(session.client, (await findOrganization(session)).id, idOrName);
    const key = await session.client.call('updateSshKey', {
      params: { id },
      body: { value: keyText(options.valueFile) },
    });
    return session.answer(key, `Ssh key ${plain(name)} was replaced`);
  });
  addSshKeyShow(group);
  onCall(
    group.command('delete <ssh-key>').description('delete an ssh key: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await findSshKey(session.client, (await findOrganization(session)).id, idOrName);
      const deleted = await session.client.call('deleteSshKey', { params: { id } });
      return session.answer(deleted, `Ssh key ${plain(name)} was deleted`);
    },
  );
}

export function addRepositoryCredentialCommands(program: Command): void {
  addGitTokens(program);
  addSshKeys(program);
}
