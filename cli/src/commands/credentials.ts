/** Credentials of clouds. Secrets come from files or standard input, never from the command line. */
import type { Command } from 'commander';
import { type CredentialType, type CredentialValue, credentialTypes } from '#contract/credentials/kinds.ts';
import type { Credential } from '#contract/credentials/shapes.ts';
import { onCall } from '../call/command-line.ts';
import { textFromFile } from '../call/read-input.ts';
import { findCredential, findOrganization, findProject } from '../find/find-environment.ts';
import { BadCall, exitCodes } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';

interface ProjectFlag {
  readonly project?: string;
}

interface CredentialValueFlags {
  readonly valueFile?: string;
  readonly field?: string[];
  readonly fieldFile?: string[];
}

interface CreateCredentialFlags extends ProjectFlag, CredentialValueFlags {
  readonly type: string;
}

interface UpdateCredentialFlags extends CredentialValueFlags {
  readonly name?: string;
}

/** Other processes can read a command line. */
const secretFields = [
  'secretAccessKey',
  'clientSecret',
  'privateKey',
  'serviceAccountKey',
  'secret',
  'kubeConfig',
];

const columns: TableColumn<Credential>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TYPE', value: ({ type }) => type },
  { head: 'PROJECT', value: ({ projectId }) => projectId ?? '', isId: true },
  { head: 'CHANGED', value: ({ updatedAt }) => timeText(updatedAt), isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

function pairOf(flag: string, text: string): [string, string] {
  const [, name, value] = /^(\w+)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new BadCall(`${flag}: write the name of a field, "=", and its value.`);
  return [name, value];
}

function valueOfFile(file: string): Record<string, unknown> {
  try {
    return JSON.parse(textFromFile('--value-file', file)) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof BadCall) throw error;
    throw new BadCall(`--value-file: ${file} must contain a JSON object with the fields.`, { cause: error });
  }
}

/** @returns undefined where no flag specifies a part of the value */
function valueOf({ valueFile, field, fieldFile }: CredentialValueFlags): CredentialValue | undefined {
  if (valueFile === undefined && field === undefined && fieldFile === undefined) return undefined;
  const value = valueFile === undefined ? {} : valueOfFile(valueFile);
  for (const text of field ?? []) {
    const [name, content] = pairOf('--field', text);
    if (secretFields.includes(name))
      throw new BadCall(
        `--field: ${name} is a secret: use --field-file ${name}=<file>, or use --value-file.`,
      );
    value[name] = name === 'duration' ? Number(content) : content;
  }
  for (const text of fieldFile ?? []) {
    const [name, file] = pairOf('--field-file', text);
    const content = textFromFile('--field-file', file);
    value[name] = name === 'privateKey' ? `${content.trimEnd()}\n` : content.trim();
  }
  return value as CredentialValue;
}

function withValueOptions(command: Command): Command {
  return command
    .option('--value-file <file>', 'file that contains the fields as a JSON object; - for standard input')
    .option('--field <name=value...>', 'a field that is not a secret')
    .option('--field-file <name=file...>', 'a field, from a file; - for standard input');
}

async function find(session: CommandSession, idOrName: string): Promise<Credential> {
  return findCredential(session.client, (await findOrganization(session)).id, idOrName);
}

function addList(group: Command): void {
  const list = group
    .command('list')
    .description('list credentials of the organization; or those that runs of a project get')
    .option('--project <project>', 'id or exact name of a project');
  onCall<ProjectFlag>(list, async ({ session, options }) => {
    const { id: organizationId } = await findOrganization(session);
    const all = await session.client.call('listCredentials', { query: { organizationId } });
    const { project } = options;
    if (project === undefined) return session.list(all, columns, 'No credentials.');
    const { id: projectId } = await findProject(session.client, organizationId, project);
    const found = await session.client.call('listProjectCredentials', { params: { projectId } });
    if (session.isJson) return session.output.json(found);
    const rows = found.effective.map((each) => ({
      ...each,
      credential: all.find(({ id }) => id === each.credentialId),
    }));
    return session.output.table(
      rows,
      [
        { head: 'CLOUD', value: ({ cloud }) => cloud },
        { head: 'NAME', value: ({ credential }) => credential?.name },
        { head: 'TYPE', value: ({ credential }) => credential?.type },
        {
          head: 'FROM',
          value: (row) => (row.projectId === projectId ? 'this project' : row.projectId),
        },
      ],
      'Runs of the project get no credentials.',
    );
  });
}

function addCreate(group: Command): void {
  const create = withValueOptions(
    group
      .command('create <name>')
      .description('store a credential; docs/use/credentials.md lists the fields of each type')
      .requiredOption('--type <type>', `one of ${credentialTypes.join(', ')}`)
      .option('--project <project>', 'only this project and those below may use it'),
  );
  onCall<CreateCredentialFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { id: organizationId } = await findOrganization(session);
    const { project } = options;
    const place =
      project === undefined
        ? { organizationId }
        : { projectId: (await findProject(session.client, organizationId, project)).id };
    const body = {
      ...place,
      name,
      type: options.type as CredentialType,
      value: valueOf(options) ?? valueOf({ valueFile: '-' }) ?? {},
    };
    const credential = await session.client.call('createCredential', { body });
    return session.answer(credential, () => `Credential ${plain(name)} was stored: ${credential.id}`);
  });
}

function addUpdate(group: Command): void {
  const update = withValueOptions(
    group
      .command('update <credential>')
      .description('change a credential; a value replaces the whole value')
      .option('--name <name>', 'its new name'),
  );
  onCall<UpdateCredentialFlags>(update, async ({ session, args: [idOrName = ''], options }) => {
    const { id, name } = await find(session, idOrName);
    const credential = await session.client.call('updateCredential', {
      params: { id },
      body: { name: options.name, value: valueOf(options) },
    });
    return session.answer(credential, `Credential ${plain(name)} was updated`);
  });
}

function addShowAndDelete(group: Command): void {
  onCall(
    group.command('show <credential>').description('show a credential, without its value'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await find(session, idOrName);
      const credential = await session.client.call('getCredential', { params: { id } });
      if (session.isJson) return session.output.json(credential);
      return session.output.fields([
        ['Name', credential.name],
        ['Id', credential.id],
        ['Type', credential.type],
        ['Project', credential.projectId ?? 'all'],
        ['Changed', timeText(credential.updatedAt)],
      ]);
    },
  );
  onCall(
    group.command('delete <credential>').description('delete a credential: its id or exact name'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id, name } = await find(session, idOrName);
      const deleted = await session.client.call('deleteCredential', { params: { id } });
      return session.answer(deleted, `Credential ${plain(name)} was deleted`);
    },
  );
}

function addTest(group: Command): void {
  onCall(
    group.command('test <credential>').description('check a credential with its cloud, where possible'),
    async ({ session, args: [idOrName = ''] }) => {
      const { id } = await find(session, idOrName);
      const found = await session.client.call('testCredential', { params: { id } });
      await session.answer(found, () => plain(found.message));
      return found.isOk ? exitCodes.good : exitCodes.failed;
    },
  );
}

function addAssignments(group: Command): void {
  const pairs = [
    ['assign', 'give a credential to the runs of a project and those below', 'assigned to'],
    ['unassign', 'remove a credential from a project', 'removed from'],
  ] as const;
  for (const [word, description, done] of pairs) {
    const command = group
      .command(`${word} <credential>`)
      .description(description)
      .requiredOption('--project <project>', 'id or exact name of the project');
    onCall<ProjectFlag>(command, async ({ session, args: [idOrName = ''], options }) => {
      const { id: credentialId, name } = await find(session, idOrName);
      const organization = await findOrganization(session);
      const project = await findProject(session.client, organization.id, options.project);
      const params = { credentialId, projectId: project.id };
      const answer =
        word === 'assign'
          ? await session.client.call('assignCredential', { params })
          : await session.client.call('unassignCredential', { params });
      return session.answer(answer, `Credential ${plain(name)} was ${done} ${plain(project.name)}`);
    });
  }
}

function addSubject(group: Command): void {
  onCall(
    group.command('subject').description('print the subject of OIDC tokens of runs, for trust policies'),
    async ({ session }) => {
      const { id: organizationId } = await findOrganization(session);
      const bytes = await session.client.bytes('getOidcSubject', { query: { organizationId } });
      const subject = new TextDecoder().decode(bytes);
      return session.answer({ subject }, plain(subject));
    },
  );
}

export function addCredentialCommands(program: Command): void {
  const group = program.command('credentials').alias('credential').description('cloud credentials for runs');
  addList(group);
  addCreate(group);
  addShowAndDelete(group);
  addUpdate(group);
  addTest(group);
  addAssignments(group);
  addSubject(group);
}
