/** Discovery of a repository before anything is created from it. */
import type { Command } from 'commander';
import type { RepositoryVariable } from '#contract/repositories/shapes.ts';
import { templateTypes } from '#contract/schema/template-types.ts';
import { onCall } from '../call/command-line.ts';
import { findGitToken, findOrganization, findProject, findSshKey } from '../find/find-environment.ts';
import type { CommandSession } from '../session/session.ts';
import { optionOf } from '../terminal/suggest.ts';
import type { TableColumn } from '../terminal/table.ts';
import { findConnection } from './vcs-connection.ts';

interface RepositoryAccessFlags {
  readonly project?: string;
  readonly gitToken?: string;
  readonly sshKey?: string[];
  readonly vcsConnection?: string;
}

interface RepositoryVariableFlags extends RepositoryAccessFlags {
  readonly revision?: string;
  readonly path?: string;
  readonly type: (typeof templateTypes)[number];
  readonly file?: string;
}

const columns: TableColumn<RepositoryVariable>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'DEFAULT', value: ({ isSensitive, value }) => (isSensitive && value ? '********' : (value ?? '')) },
  { head: 'REQUIRED', value: ({ isRequired }) => (isRequired ? 'yes' : 'no') },
  { head: 'DESCRIPTION', value: ({ description }) => description ?? '', isExtra: true },
];

function withAccessFlags(command: Command): Command {
  return command
    .option('--project <project>', 'id or exact name of the project for which it is read')
    .option('--git-token <git-token>', 'id or exact name of a git token to read it with')
    .option('--ssh-key <key...>', 'ids or exact names of ssh keys to read it with')
    .option('--vcs-connection <vcs-connection>', 'id or exact name of a connection to its forge');
}

/** The parameters that the flags stand for. */
async function accessOf(session: CommandSession, repository: string, flags: RepositoryAccessFlags) {
  const { id: organizationId } = await findOrganization(session);
  const { client } = session;
  const [project, token, connection, keys] = await Promise.all([
    flags.project === undefined ? undefined : findProject(client, organizationId, flags.project),
    flags.gitToken === undefined ? undefined : findGitToken(client, organizationId, flags.gitToken),
    flags.vcsConnection === undefined
      ? undefined
      : findConnection(session, organizationId, flags.vcsConnection),
    Promise.all((flags.sshKey ?? []).map((each) => findSshKey(client, organizationId, each))),
  ]);
  return {
    repository,
    organizationId,
    projectId: project?.id,
    tokenId: token?.id,
    vcsConnectionId: connection?.id,
    sshKeyIds: keys.length === 0 ? undefined : JSON.stringify(keys.map(({ id }) => id)),
  };
}

export function addRepositoryCommands(program: Command): void {
  const group = program.command('repository').description('what the service reads of a git repository');
  const variables = withAccessFlags(
    group
      .command('variables <address>')
      .description('show the variables that its code declares')
      .option('--revision <revision>', 'branch, tag or commit (default: the default branch)')
      .option('--path <folder>', 'folder of the configuration (default: its root)')
      .addOption(optionOf('--type <tool>', 'tool of the configuration', templateTypes).default('opentofu'))
      .option('--file <file>', 'file of a CloudFormation template'),
  );
  onCall<RepositoryVariableFlags>(variables, async ({ session, args: [repository = ''], options }) => {
    const { revision, path, type, file: fileName } = options;
    const found = await session.client.call('listVariablesFromRepository', {
      query: { ...(await accessOf(session, repository, options)), revision, path, type, fileName },
    });
    return session.list(found, columns, 'The code declares no variables.');
  });
  const revisions = withAccessFlags(
    group.command('revisions <address>').description('show its branches and tags'),
  );
  onCall<RepositoryAccessFlags>(revisions, async ({ session, args: [repository = ''], options }) => {
    const { heads, tags } = await session.client.call('listRepositoryRevisions', {
      query: await accessOf(session, repository, options),
    });
    if (session.isJson) return session.output.json({ heads, tags });
    const all = [
      ...heads.map((name) => ({ name, kind: 'branch' })),
      ...tags.map((name) => ({ name, kind: 'tag' })),
    ];
    return session.output.table(
      all,
      [
        { head: 'NAME', value: ({ name }) => name },
        { head: 'KIND', value: ({ kind }) => kind },
      ],
      'The repository has no branches.',
    );
  });
}
