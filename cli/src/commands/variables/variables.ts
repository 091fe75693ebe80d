/** `variables`: the variables of every scope, where each value comes from, and what it hides. */
import type { Command } from 'commander';
import type { Variable } from '#contract/variables/shapes.ts';
import { onCall } from '../../command-line.ts';
import { BadCall } from '../../exit-codes.ts';
import { findEnvironment, findOrganization, findProject } from '../../find-environment.ts';
import type { Session } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { Column } from '../../terminal/table.ts';
import { variableChanges, type VariableFlags, withVariableFlags } from '../../variable-flags.ts';
import { findTemplate } from '../templates/find-template.ts';
import { findSet } from './sets.ts';

interface PlaceFlags {
  readonly project?: string;
  readonly template?: string;
  readonly environment?: string;
  readonly set?: string;
}

interface ListFlags extends PlaceFlags {
  readonly deployment?: string;
}

interface TypeFlags extends PlaceFlags {
  readonly envVar?: boolean;
  readonly var?: boolean;
}

interface SetFlags extends PlaceFlags, VariableFlags {
  readonly description?: string;
  readonly regex?: string;
  readonly required?: boolean;
  readonly readonly?: boolean;
}

/** A place that has variables of its own. */
interface Place {
  readonly scope: 'GLOBAL' | 'PROJECT' | 'BLUEPRINT' | 'ENVIRONMENT' | 'SET';
  /** Absent for the organization. */
  readonly scopeId?: string;
  /** The parameter of a list. */
  readonly query: Readonly<Record<string, string>>;
}

const typeWords = ['environment', 'terraform'] as const;

function hiddenBy({ overwrites }: Variable): string | undefined {
  if (!overwrites) return undefined;
  return overwrites.value === undefined ? overwrites.scope : `${overwrites.scope}: ${overwrites.value}`;
}

const columns: Column<Variable>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TYPE', value: ({ type }) => typeWords[type] },
  { head: 'VALUE', value: ({ value }) => value },
  { head: 'FROM', value: ({ scope }) => scope },
  { head: 'HIDES', value: hiddenBy },
  { head: 'ID', value: ({ id }) => id, isId: true },
];

function withPlaceFlags(command: Command): Command {
  return command
    .option('--project <project>', 'of a project, instead of the organization: its id or exact name')
    .option('--template <template>', 'of a template: its id or exact name')
    .option('-e, --environment <environment>', 'of an environment: its id or exact name')
    .option(
      '--set <set>',
      'of a configuration set: its id or exact name, with --project where it was created',
    );
}

/** @throws BadCall for several places */
async function placeOf(session: Session, flags: PlaceFlags): Promise<Place> {
  const { project, template, environment, set } = flags;
  if (set !== undefined) {
    const { id } = await findSet(session, set, project);
    return { scope: 'SET', scopeId: id, query: { setId: id } };
  }
  if ([project, template, environment].filter((given) => given !== undefined).length > 1)
    throw new BadCall('Specify at most one of --project, --template and --environment.');
  if (environment !== undefined) {
    const { id } = await findEnvironment(session, environment);
    return { scope: 'ENVIRONMENT', scopeId: id, query: { environmentId: id } };
  }
  if (project === undefined && template === undefined) return { scope: 'GLOBAL', query: {} };
  const { id: organizationId } = await findOrganization(session);
  if (template !== undefined) {
    const { id } = await findTemplate(session.client, organizationId, template);
    return { scope: 'BLUEPRINT', scopeId: id, query: { blueprintId: id } };
  }
  const { id } = await findProject(session.client, organizationId, project);
  return { scope: 'PROJECT', scopeId: id, query: { projectId: id } };
}

async function listOf(session: Session, given: Place['query']): Promise<Variable[]> {
  const { id: organizationId } = await findOrganization(session);
  return session.client.call('listVariables', { query: { organizationId, ...given } });
}

/** @throws BadCall unless the place has exactly one such variable */
function named(all: readonly Variable[], name: string, { envVar, var: isVar }: TypeFlags): Variable {
  const found = all.filter(
    (each) => each.name === name && (!envVar || each.type === 0) && (!isVar || each.type === 1),
  );
  const [one, other] = found;
  if (!one) throw new BadCall(`There is no variable "${plain(name)}" here.`);
  if (other)
    throw new BadCall(
      `"${plain(name)}" is the name of a terraform variable and of an environment variable: add --env-var or --var.`,
    );
  return one;
}

async function show({ output, isJson }: Session, variable: Variable): Promise<void> {
  if (isJson) return output.json(variable);
  const rules = [variable.isRequired && 'required', variable.isReadonly && 'read-only'].filter(Boolean);
  return output.fields([
    ['Name', variable.name],
    ['Type', typeWords[variable.type]],
    ['Value', variable.value],
    ['From', `${variable.scope} ${variable.scopeId ?? ''}`.trim()],
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
  const list = withPlaceFlags(
    group
      .command('list')
      .description(
        'list the variables that hold at a place, with where each value comes from and what it hides',
      ),
  ).option('--deployment <deployment>', 'those that a deployment runs with: its id');
  onCall<ListFlags>(list, async ({ session, options }) => {
    const { output, isJson } = session;
    const query = options.deployment
      ? { deploymentLogId: options.deployment }
      : (await placeOf(session, options)).query;
    const all = await listOf(session, query);
    return isJson ? output.json(all) : output.table(all, columns, 'No variables.');
  });
  const one = withPlaceFlags(
    group
      .command('show <name>')
      .description('show the variable that counts at a place, where it comes from, and what it hides'),
  )
    .option('--env-var', 'the environment variable of that name')
    .option('--var', 'the terraform variable of that name');
  onCall<TypeFlags>(one, async ({ session, args: [name = ''], options }) => {
    const { query } = await placeOf(session, options);
    return show(session, named(await listOf(session, query), name, options));
  });
}

function addChanges(group: Command): void {
  const set = withVariableFlags(
    withPlaceFlags(
      group
        .command('set')
        .description('create variables at a place, or change them; inherited ones are overridden'),
    ),
  )
    .option('--description <text>', 'what they are for')
    .option('--regex <expression>', 'what values must match')
    .option('--required', 'deployments need a value')
    .option('--readonly', 'inner places cannot override them');
  onCall<SetFlags>(set, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const changes = variableChanges(options);
    if (changes.length === 0) throw new BadCall('Specify what to set, such as --var name=value.');
    const { scope, scopeId } = await placeOf(session, options);
    const { id: organizationId } = await findOrganization(session);
    const { description, regex, required: isRequired, readonly: isReadonly } = options;
    const rules = { description, regex, isRequired, isReadonly };
    const body = changes.map((change) => ({ ...change, ...rules, organizationId, scope, scopeId }));
    const saved = await client.call('saveVariables', { body });
    return isJson ? output.json(saved) : output.table(saved, columns, 'No variables.');
  });
  const unset = withPlaceFlags(
    group
      .command('unset <name>')
      .description('delete the variable of a place; an inherited one counts again'),
  )
    .option('--env-var', 'the environment variable of that name')
    .option('--var', 'the terraform variable of that name');
  onCall<TypeFlags>(unset, async ({ session, args: [name = ''], options }) => {
    const { client, output, isJson } = session;
    const { scope, scopeId, query } = await placeOf(session, options);
    const own = (await listOf(session, query)).filter(
      (each) => each.scope === scope && each.scopeId === scopeId,
    );
    const { id = '' } = named(own, name, options);
    const deleted = await client.call('deleteVariable', { params: { id } });
    return isJson ? output.json(deleted) : output.line(`The variable ${plain(name)} was deleted.`);
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
