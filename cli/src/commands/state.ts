/** `state`: versions of an environment's state, and what can be done with them. */
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { StateComparison, StateVersion } from '#contract/state/shapes.ts';
import { gather, onCall, wholeNumber } from '../call/command-line.ts';
import { allPages } from '../call/pages.ts';
import { bytesFromFile } from '../call/read-input.ts';
import { findEnvironment, findProject, isId } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { timeText } from '../terminal/durations.ts';
import { plain } from '../terminal/safe-text.ts';
import type { TableColumn } from '../terminal/table.ts';
import { addStateUnlock } from './environment-locks.ts';

interface ChangeFlags {
  readonly comment?: string;
  readonly otherLineage?: boolean;
}

interface VersionFlags {
  readonly stateVersion?: string;
}

const columns: TableColumn<StateVersion>[] = [
  { head: 'SERIAL', value: ({ serial }) => serial, isWhole: true },
  { head: 'STANDING', value: ({ standing }) => standing, isWhole: true },
  { head: 'ORIGIN', value: ({ origin }) => origin, isWhole: true, isExtra: true },
  { head: 'CREATED', value: ({ createdAt }) => timeText(createdAt), isWhole: true, isExtra: true },
  { head: 'RESOURCES', value: ({ resourceCount }) => resourceCount, isWhole: true, isExtra: true },
  { head: 'COMMENT', value: ({ comment }) => comment, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isWhole: true },
];

function requireVersion(text: string): string {
  if (isId(text)) return text;
  throw new BadCall(
    `"${text}" is not the id of a version: "envarium state list" with an environment shows them.`,
  );
}

async function show(
  { output, isJson }: CommandSession,
  version: StateVersion,
  sentence?: string,
): Promise<void> {
  if (isJson) return output.json(version);
  if (sentence !== undefined) await output.line(sentence);
  return output.fields([
    ['Id', version.id],
    ['Environment', version.environmentId],
    ['Standing', version.standing],
    ['Origin', version.origin],
    ['Created', timeText(version.createdAt)],
    ['By', version.createdByUser?.name ?? version.createdBy],
    ['Deployment', version.deploymentLogId],
    ['Comment', version.comment],
    ['Created from', version.madeFrom],
    ['Follows', version.follows],
    ['Serial', version.serial],
    ['Lineage', version.lineage],
    ['Tool version', version.terraformVersion],
    ['Resources', version.resourceCount],
    ['Bytes', version.bytes],
    ['SHA-256', version.sha256],
  ]);
}

function addReading(group: Command): void {
  const list = group
    .command('list <environment>')
    .description('list versions, newest first')
    .option('--limit <number>', 'show at most this many', wholeNumber('--limit', 1));
  onCall<{ limit?: number }>(list, async ({ session, args: [name = ''], options }) => {
    const params = { id: (await findEnvironment(session, name)).id };
    const all = await allPages(
      (query) => session.client.call('listStateVersions', { params, query }),
      options.limit,
    );
    return session.list(all, columns, 'No state.');
  });
  onCall(
    group.command('show <version>').description('show a version: its id'),
    async ({ session, args: [id = ''] }) =>
      show(session, await session.client.call('getStateVersion', { params: { id: requireVersion(id) } })),
  );
  const pull = group
    .command('pull <environment>')
    .description('write the state unchanged, with secrets in plain text, to standard output or a file')
    .option('--state-version <id>', 'this version (default: the current one)')
    .option('--output <file>', 'new file, readable only by you');
  onCall<VersionFlags & { output?: string }>(pull, async ({ session, args: [name = ''], options }) => {
    const id =
      options.stateVersion === undefined
        ? await currentVersion(session, name)
        : requireVersion(options.stateVersion);
    const content = await session.client.bytes('getStateContent', { params: { id } });
    if (options.output === undefined) return session.output.data(content);
    await writeNew(options.output, content);
    return session.isJson
      ? session.output.json({ file: options.output, bytes: content.length, id })
      : undefined;
  });
}

async function currentVersion(session: CommandSession, name: string): Promise<string> {
  const { id } = await findEnvironment(session, name);
  const versions = await allPages((query) =>
    session.client.call('listStateVersions', { params: { id }, query }),
  );
  const current = versions.find(({ standing }) => standing === 'current');
  if (current) return current.id;
  throw new BadCall(
    `Environment "${name}" has no current state. "envarium state list ${name}" shows its versions.`,
  );
}

async function writeNew(file: string, content: Uint8Array): Promise<void> {
  try {
    await writeFile(file, content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new BadCall(`--output ${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Prints the differences, resource by resource. */
async function showComparison(
  { output }: CommandSession,
  { before, after, isSameLineage, resources, outputs, unchangedResourceCount }: StateComparison,
): Promise<void> {
  await output.line(`From serial ${before.serial} (${before.id}) to serial ${after.serial} (${after.id})`);
  if (!isSameLineage)
    await output.line(
      'Their lineages differ: they belong to different infrastructure, or one was recreated.',
    );
  const rows = [
    ...resources.map(({ change, address, attributes }) => ({
      change,
      what: address,
      attributes: attributes.map(({ name }) => name).join(', '),
    })),
    ...outputs.map(({ change, name }) => ({ change, what: `output.${name}`, attributes: '' })),
  ];
  const rowColumns: TableColumn<(typeof rows)[number]>[] = [
    { head: 'CHANGE', value: ({ change }) => change, isWhole: true },
    { head: 'ADDRESS', value: ({ what }) => what, isWhole: true },
    { head: 'ATTRIBUTES', value: ({ attributes }) => attributes, isExtra: true },
  ];
  await output.table(rows, rowColumns, 'No differences.');
  await output.line(`${unchangedResourceCount} resources are unchanged.`);
}

function addCompare(group: Command): void {
  const compare = group
    .command('compare <version> [with]')
    .description('compare a version with another one (default: its predecessor)');
  onCall(compare, async ({ session, args: [id = '', other] }) => {
    const query = { with: other === undefined ? undefined : requireVersion(other) };
    const comparison = await session.client.call('compareStateVersions', {
      params: { id: requireVersion(id) },
      query,
    });
    return session.isJson ? session.output.json(comparison) : showComparison(session, comparison);
  });
}

function addDeletion(group: Command): void {
  onCall(
    group.command('delete <version>').description('delete a rescued version: its id; it cannot be restored'),
    async ({ session, args: [id = ''] }) => {
      const params = { id: requireVersion(id) };
      const deleted = await session.client.call('deleteStateVersion', { params });
      return session.answer(deleted, () => `The rescued version ${plain(deleted.id)} was deleted`);
    },
  );
}

function addWriting(group: Command): void {
  const rollback = group
    .command('rollback <version>')
    .description('make the content of a version the current state again; no version is lost')
    .option('--comment <text>', 'why');
  onCall<ChangeFlags>(rollback, async ({ session, args: [id = ''], options }) => {
    const body = { comment: options.comment };
    const made = await session.client.call('rollBackState', { params: { id: requireVersion(id) }, body });
    return show(session, made, 'The state was rolled back by a new version:');
  });
  const promote = group
    .command('promote <version>')
    .description('make a rescued version the current state')
    .option('--comment <text>', 'why')
    .option('--other-lineage', 'accept a lineage that differs from that of the current state');
  onCall<ChangeFlags>(promote, async ({ session, args: [id = ''], options }) => {
    const body = { comment: options.comment, acceptOtherLineage: options.otherLineage };
    const made = await session.client.call('promoteStateVersion', {
      params: { id: requireVersion(id) },
      body,
    });
    return show(session, made, 'The rescued state is now the current one, as a new version:');
  });
  const push = group
    .command('push <environment> <file>')
    .description('import a state file, or standard input with -, as the current state')
    .option('--comment <text>', 'why')
    .option('--other-lineage', 'accept a lineage that differs from that of the current state');
  onCall<ChangeFlags>(push, async ({ session, args: [name = '', file = ''], options }) => {
    const body = bytesFromFile('The state', file);
    requireState(file, body);
    const { id } = await findEnvironment(session, name);
    const query = { comment: options.comment, acceptOtherLineage: options.otherLineage };
    return show(
      session,
      await session.client.call('importState', { params: { id }, query, body }),
      'The state was imported:',
    );
  });
  const clear = group
    .command('clear <environment>')
    .description('leave the environment without a current state; all versions are kept');
  onCall(clear, async ({ session, args: [name = ''] }) => {
    const { id } = await findEnvironment(session, name);
    const cleared = await session.client.call('clearState', { params: { id } });
    return session.answer(cleared, () => {
      const was =
        cleared.previous === undefined
          ? ''
          : `; it was version ${cleared.previous}: "envarium state rollback" restores it`;
      return `${plain(name)} has no current state${was}`;
    });
  });
}

/** Does not send what certainly is not a state; the service decides about the rest. @throws BadCall */
function requireState(file: string, bytes: Uint8Array): void {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new BadCall(`${file} is not a state file: it is not JSON (binary plan files are not accepted).`, {
      cause: error,
    });
  }
  const { version, lineage } = (value ?? {}) as { version?: unknown; lineage?: unknown };
  if (typeof version !== 'number' || typeof lineage !== 'string')
    throw new BadCall(
      `${file} is not a state file: it has no version and lineage (output of "show -json" is not accepted).`,
    );
}

interface StateAccessFlags {
  readonly organization?: boolean;
  readonly project?: string[];
  readonly clear?: boolean;
}

function addAccess(group: Command): void {
  const access = group
    .command('access <environment>')
    .description(
      'show or replace who may read the state over http, in addition to those with the right READ_STATE',
    )
    .option('--organization', 'allow the whole organization')
    .option(
      '--project <project>',
      'allow people who may read the states of this project; replaces the list of projects; may be repeated',
      gather,
    )
    .addOption(new Option('--clear', 'allow no one else').conflicts(['organization', 'project']));
  onCall<StateAccessFlags>(access, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const { id: environmentId, organizationId } = await findEnvironment(session, name);
    const params = { environmentId };
    if (options.clear) await client.call('deleteStateAccess', { params });
    else if (options.organization || options.project) {
      const projects = await Promise.all(
        (options.project ?? []).map((one) => findProject(client, organizationId, one)),
      );
      const body = {
        accessibleFromEntireOrganization: options.organization === true,
        allowedProjectIds: projects.map(({ id }) => id),
      };
      await client.call('setStateAccess', { params, body });
    }
    const now = await client.call('getStateAccess', { params });
    if (isJson) return output.json(now);
    return output.fields([
      ['Whole organization', now.accessibleFromEntireOrganization ? 'yes' : 'no'],
      ['Projects', now.allowedProjectIds.join(', ') || 'none'],
    ]);
  });
}

export function addStateCommands(program: Command): void {
  const group = program.command('state').description("versions of an environment's state");
  addReading(group);
  addCompare(group);
  addWriting(group);
  addDeletion(group);
  addAccess(group);
  addStateUnlock(group);
}
