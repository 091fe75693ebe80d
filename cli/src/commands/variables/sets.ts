/** `set`: configuration sets, their variables, and where they are assigned. */
import type { Command } from 'commander';
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import { gather, onCall } from '../../call/command-line.ts';
import {
  findOrganization,
  findProject,
  isId,
  matching,
  only,
  orNotFound,
} from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';
import { withChoices } from '../../variables/keep-choices.ts';
import type { VariableEntry } from '../../variables/variable-file.ts';
import { type VariableFlags, variableChanges, withVariableFlags } from '../../variables/variable-flags.ts';
import { listOf, variableColumns, variableNamed } from './list-variables.ts';
import { placeOf, type VariablePlaceFlags, withPlaceFlags } from './place.ts';

interface CreationFlags {
  readonly project?: string;
}

interface AssignmentFlags extends VariablePlaceFlags {
  readonly organization?: boolean;
  readonly deployment?: string;
}

interface EditSetFlags extends CreationFlags, VariableFlags {
  readonly name?: string;
  readonly description?: string;
  readonly unset?: readonly string[];
}

const columns: TableColumn<ConfigurationSet>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'CREATED IN', value: ({ creationScope }) => creationScope },
  { head: 'DESCRIPTION', value: ({ description }) => description, isExtra: true },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

const assignedColumns: TableColumn<ConfigurationSet>[] = [
  { head: 'NAME', value: ({ name, isDeleted }) => (isDeleted ? `${name} (deleted)` : name) },
  { head: 'ASSIGNED TO', value: ({ assignmentScope }) => assignmentScope },
  { head: 'ID OF THAT', value: ({ assignmentScopeId }) => assignmentScopeId, isId: true },
  { head: 'SET', value: ({ id }) => id, isId: true },
];

const inProject = [
  '--project <project>',
  'a set that was created in this project: its id or exact name',
] as const;

/** Place in which sets are created: the organization, or a project. */
async function creationScope(
  session: CommandSession,
  project: string | undefined,
): Promise<{ scope: 'organization' | 'project'; scopeId: string }> {
  const { id } = await findOrganization(session);
  return project === undefined
    ? { scope: 'organization', scopeId: id }
    : { scope: 'project', scopeId: (await findProject(session.client, id, project)).id };
}

/**
 * @param idOrName id or exact name
 * @param project in which it was created; absent: the organization
 * @throws BadCall unless exactly one matches
 */
export async function findSet(
  session: CommandSession,
  idOrName: string,
  project?: string,
): Promise<Pick<ConfigurationSet, 'id' | 'name'>> {
  const { client } = session;
  const byId = isId(idOrName)
    ? await orNotFound(client.call('getConfigurationSet', { params: { id: idOrName } }))
    : null;
  if (byId) return byId;
  const query = await creationScope(session, project);
  const all = await client.call('listConfigurationSets', { query });
  return only(matching(all, idOrName), 'set', idOrName, ({ name }) => name);
}

/** @throws BadCall unless exactly one place is specified */
async function assignmentPlace(
  session: CommandSession,
  { organization, deployment, ...place }: AssignmentFlags,
): Promise<{ scope: string; scopeId: string }> {
  const { project, template, environment } = place;
  const places = [organization, project, template, environment, deployment].filter(Boolean);
  if (places.length !== 1)
    throw new BadCall('Specify exactly one place, such as --environment with an id or exact name.');
  if (deployment) return { scope: 'deployment', scopeId: deployment };
  const { kind, id } = await placeOf(session, place);
  return { scope: kind, scopeId: id };
}

function withAssignmentFlags(command: Command): Command {
  return withPlaceFlags(
    command.option('--organization', 'the whole organization'),
    'a project with everything below it',
  );
}

async function show(session: CommandSession, set: ConfigurationSet): Promise<void> {
  const { output, isJson } = session;
  const configurationProperties = await listOf(session, { setId: set.id });
  if (isJson) return output.json({ ...set, configurationProperties });
  await output.fields([
    ['Name', set.name],
    ['Id', set.id],
    ['Description', set.description],
    ['Created in', `${set.creationScope} ${set.creationScopeId}`],
    ['Created by', set.createdByUser?.name],
    ['Created at', set.createdAt],
  ]);
  await output.line();
  return output.table(configurationProperties, variableColumns, 'No variables.');
}

function addReading(group: Command): void {
  const list = group
    .command('list')
    .description('list the sets that were created in the organization, newest first')
    .option('--project <project>', 'those that were created in this project: its id or exact name');
  onCall<CreationFlags>(list, async ({ session, options }) => {
    const { client } = session;
    const query = await creationScope(session, options.project);
    const sets = await client.call('listConfigurationSets', { query });
    return session.list(sets, columns, 'No configuration sets.');
  });
  const one = group
    .command('show <set>')
    .description('show a set and its variables: its id or exact name')
    .option(...inProject);
  onCall<CreationFlags>(one, async ({ session, args: [idOrName = ''], options }) => {
    const { id } = await findSet(session, idOrName, options.project);
    return show(session, await session.client.call('getConfigurationSet', { params: { id } }));
  });
  const assigned = withAssignmentFlags(
    group
      .command('assigned')
      .description('list the sets that apply at a place, including inherited ones: later ones win'),
  ).option('--deployment <deployment>', 'those that a deployment ran with: its id');
  onCall<AssignmentFlags>(assigned, async ({ session, options }) => {
    const { client } = session;
    const params = await assignmentPlace(session, options);
    const sets = await client.call('listSetAssignments', { params });
    return session.list(sets, assignedColumns, 'No configuration sets.');
  });
}

/**
 * Changes of the variables that a set has, and new ones: what a flag does not say of a variable stays as it is.
 * @throws BadCall for a name to remove that is not that of one variable
 */
async function changesOf(
  session: CommandSession,
  setId: string,
  changes: readonly VariableEntry[],
  unset: readonly string[] = [],
) {
  if (changes.length + unset.length === 0) return undefined;
  const all = await listOf(session, { setId });
  return [
    ...[...new Set(unset)].map((name) => ({ id: variableNamed(all, name).id, toDelete: true })),
    ...changes.map((change) => {
      const stored = all.find(({ name, type }) => name === change.name && type === change.type);
      return { ...withChoices(change, stored), ...(stored ? { id: stored.id } : {}) };
    }),
  ];
}

function addChanges(group: Command): void {
  const create = withVariableFlags(
    group
      .command('create <name>')
      .description('create a set, in the organization for use everywhere')
      .option('--project <project>', 'create it in this project, for use there and below it')
      .option('--description <text>', 'what it is for'),
  );
  onCall<EditSetFlags>(create, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const configurationProperties = variableChanges(options);
    const { description, project } = options;
    const place = await creationScope(session, project);
    const body = { name, description, ...place, configurationProperties };
    const set = await client.call('createConfigurationSet', { body });
    return session.answer(set, () => `Configuration set ${plain(name)} was created: ${set.id}`);
  });
  const edit = withVariableFlags(
    group
      .command('edit <set>')
      .description('change a set and its variables; omitted options are unchanged')
      .option(...inProject)
      .option('--name <name>', 'new name')
      .option('--description <text>', 'what it is for')
      .option('--unset <name>', 'remove this variable; may be repeated', gather),
  );
  onCall<EditSetFlags>(edit, async ({ session, args: [idOrName = ''], options }) => {
    const changes = variableChanges(options);
    const { name, description, project } = options;
    const { id } = await findSet(session, idOrName, project);
    const configurationPropertiesChanges = await changesOf(session, id, changes, options.unset);
    const body = { name, description, configurationPropertiesChanges };
    return show(session, await session.client.call('updateConfigurationSet', { params: { id }, body }));
  });
  const remove = group
    .command('delete <set>')
    .description('delete a set: later deployments run without its variables')
    .option(...inProject);
  onCall<CreationFlags>(remove, async ({ session, args: [idOrName = ''], options }) => {
    const { id, name } = await findSet(session, idOrName, options.project);
    const deleted = await session.client.call('deleteConfigurationSet', { params: { id } });
    return session.answer(deleted, `Configuration set ${plain(name)} was deleted`);
  });
}

/** Ids of sets, which may have been created in the organization or in the project of a place. */
async function setIds(
  session: CommandSession,
  idsOrNames: readonly string[],
  from: string | undefined,
): Promise<string> {
  const ids: string[] = [];
  for (const each of idsOrNames) ids.push((await findSet(session, each, from)).id);
  return ids.join(',');
}

interface AssignSetFlags extends AssignmentFlags {
  readonly from?: string;
}

const fromProject = [
  '--from <project>',
  'sets that were created in this project: its id or exact name',
] as const;

function addAssignments(group: Command): void {
  const assign = withAssignmentFlags(
    group.command('assign <set...>').description('assign sets to a place; of several, later ones win'),
  ).option(...fromProject);
  onCall<AssignSetFlags>(assign, async ({ session, words, options }) => {
    const params = await assignmentPlace(session, options);
    const query = { setIds: await setIds(session, words, options.from) };
    const done = await session.client.call('assignConfigurationSets', { params, query });
    return session.answer(done, 'Assigned.');
  });
  const unassign = withAssignmentFlags(
    group.command('unassign <set...>').description('unassign sets from a place'),
  ).option(...fromProject);
  onCall<AssignSetFlags>(unassign, async ({ session, words, options }) => {
    const params = await assignmentPlace(session, options);
    const query = { setIds: await setIds(session, words, options.from) };
    const done = await session.client.call('unassignConfigurationSets', { params, query });
    return session.answer(done, 'Unassigned.');
  });
}

export function addSetCommands(program: Command): void {
  const group = program
    .command('set')
    .alias('sets')
    .description('configuration sets: variables that many environments share');
  addReading(group);
  addChanges(group);
  addAssignments(group);
}
