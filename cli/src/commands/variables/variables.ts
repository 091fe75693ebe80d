/** `variables`: the variables of every scope, where each value comes from, and what it hides. */
import type { Command } from 'commander';
import type { Variable } from '#contract/variables/shapes.ts';
import { onCall } from '../../call/command-line.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import { keepChoices } from '../../variables/keep-choices.ts';
import { type VariableFlags, variableChanges, withVariableFlags } from '../../variables/variable-flags.ts';
import {
  hiddenBy,
  inheritedColumns,
  listOf,
  originOf,
  type TypeFlags,
  typeWords,
  variableNamed,
} from './list-variables.ts';
import { placeOf, type VariablePlace, type VariablePlaceFlags, withPlaceFlags } from './place.ts';
import { findSet } from './sets.ts';

interface OwnerFlags extends VariablePlaceFlags {
  readonly set?: string;
}

interface ListVariablesFlags extends OwnerFlags {
  readonly deployment?: string;
}

interface SetVariableFlags extends OwnerFlags, VariableFlags {
  readonly description?: string;
  readonly regex?: string;
  readonly required?: boolean;
  readonly readonly?: boolean;
}

/** Places with variables of their own. */
interface VariableOwner {
  readonly scope: 'GLOBAL' | 'PROJECT' | 'BLUEPRINT' | 'ENVIRONMENT' | 'SET';
  /** Absent for the organization. */
  readonly scopeId?: string;
  /** The parameter of a list. */
  readonly query: Readonly<Record<string, string>>;
}

function withOwnerFlags(command: Command): Command {
  return withPlaceFlags(command, 'a project, instead of the organization').option(
    '--set <set>',
    'a configuration set: its id or exact name, with --project where it was created',
  );
}

function ownerAt({ kind, id }: VariablePlace): VariableOwner {
  if (kind === 'environment') return { scope: 'ENVIRONMENT', scopeId: id, query: { environmentId: id } };
  if (kind === 'template') return { scope: 'BLUEPRINT', scopeId: id, query: { blueprintId: id } };
  if (kind === 'project') return { scope: 'PROJECT', scopeId: id, query: { projectId: id } };
  return { scope: 'GLOBAL', query: {} };
}

/** @throws BadCall for several places */
async function ownerOf(session: CommandSession, { set, ...place }: OwnerFlags): Promise<VariableOwner> {
  if (set === undefined) return ownerAt(await placeOf(session, place));
  if (place.template !== undefined || place.environment !== undefined)
    throw new BadCall('Specify only one of --set, --template and --environment.');
  const { id } = await findSet(session, set, place.project);
  return { scope: 'SET', scopeId: id, query: { setId: id } };
}

function withTypeFlags(command: Command): Command {
  return command
    .option('--env', 'the environment variable of that name')
    .option('--var', 'the terraform variable of that name');
}

async function show(session: CommandSession, variable: Variable): Promise<void> {
  const { output, isJson } = session;
  if (isJson) return output.json(variable);
  const rules = [variable.isRequired && 'required', variable.isReadonly && 'read-only'].filter(Boolean);
  return output.fields([
    ['Name', variable.name],
    ['Type', typeWords[variable.type]],
    ['Value', variable.value],
    ['From', await originOf(session, variable)],
    ['Hides', hiddenBy(variable)],
    ['Description', variable.description],
    ['Rules', rules.join(', ') || undefined],
    ['Format', variable.schema.format],
    ['One of', variable.schema.enum?.join(', ')],
    ['Must match', variable.regex],
    ['Id', variable.id],
  ]);
}

function addReading(group: Command): void {
  const list = withOwnerFlags(
    group
      .command('list')
      .description(
        'list the variables that apply at a place, where each value comes from and what it overrides',
      ),
  ).option('--deployment <deployment>', 'those that a deployment runs with: its id');
  onCall<ListVariablesFlags>(list, async ({ session, options }) => {
    const { deployment, set, project, template, environment } = options;
    if (deployment !== undefined && [set, project, template, environment].some((each) => each !== undefined))
      throw new BadCall('Specify --deployment alone: a deployment has run with the variables of one place.');
    const query = deployment ? { deploymentLogId: deployment } : (await ownerOf(session, options)).query;
    const all = await listOf(session, query);
    return session.list(all, inheritedColumns, 'No variables.');
  });
  const one = withTypeFlags(
    withOwnerFlags(
      group
        .command('show <name>')
        .description('show the variable that applies at a place, where it comes from, and what it overrides'),
    ),
  );
  onCall<OwnerFlags & TypeFlags>(one, async ({ session, args: [name = ''], options }) => {
    const { query } = await ownerOf(session, options);
    return show(session, variableNamed(await listOf(session, query), name, options));
  });
}

function addChanges(group: Command): void {
  const set = withVariableFlags(
    withOwnerFlags(
      group
        .command('set')
        .description('create variables at a place, or change them; inherited ones are overridden'),
    ),
  )
    .option('--description <text>', 'what they are for')
    .option('--regex <expression>', 'what values must match')
    .option('--required', 'deployments require a value')
    .option('--readonly', 'inner places cannot override them');
  onCall<SetVariableFlags>(set, async ({ session, options }) => {
    const { client } = session;
    const changes = variableChanges(options);
    if (changes.length === 0) throw new BadCall('Specify what to set, such as --var name=value.');
    const { scope, scopeId, query } = await ownerOf(session, options);
    const { id: organizationId } = await findOrganization(session);
    const { description, regex, required: isRequired, readonly: isReadonly } = options;
    const rules = { description, regex, isRequired, isReadonly };
    const kept = await keepChoices(client, { organizationId, ...query }, changes);
    const body = kept.map((change) => ({ ...change, ...rules, organizationId, scope, scopeId }));
    const saved = await client.call('saveVariables', { body });
    return session.list(saved, inheritedColumns, 'No variables.');
  });
  const unset = withTypeFlags(
    withOwnerFlags(
      group
        .command('unset <name>')
        .description('delete the variable of a place; an inherited one applies again'),
    ),
  );
  onCall<OwnerFlags & TypeFlags>(unset, async ({ session, args: [name = ''], options }) => {
    const { client } = session;
    const { scope, scopeId, query } = await ownerOf(session, options);
    const own = (await listOf(session, query)).filter(
      (each) => each.scope === scope && each.scopeId === scopeId,
    );
    const { id = '' } = variableNamed(own, name, options);
    const deleted = await client.call('deleteVariable', { params: { id } });
    return session.answer(deleted, `The variable ${plain(name)} was deleted.`);
  });
}

export function addVariableCommands(program: Command): void {
  const group = program
    .command('variables')
    .alias('variable')
    .description('variables of the organization, projects, templates, environments and sets');
  addReading(group);
  addChanges(group);
}
