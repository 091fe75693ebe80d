/** Lists of variables, and one of them. */
import { ApiError } from '#contract/client/client.ts';
import type { Variable } from '#contract/variables/shapes.ts';
import { findOrganization } from '../../find/find-environment.ts';
import { BadCall } from '../../session/exit-codes.ts';
import type { CommandSession } from '../../session/session.ts';
import { plain } from '../../terminal/safe-text.ts';
import type { TableColumn } from '../../terminal/table.ts';

/** Choice between two variables with the same name. */
export interface TypeFlags {
  readonly env?: boolean;
  readonly var?: boolean;
}

export const typeWords = ['environment', 'terraform'] as const;

/** Hidden variable, and its origin. */
export function hiddenBy({ overwrites }: Variable): string | undefined {
  if (!overwrites) return undefined;
  return overwrites.value === undefined ? overwrites.scope : `${overwrites.scope}: ${overwrites.value}`;
}

const ownColumns: readonly TableColumn<Variable>[] = [
  { head: 'NAME', value: ({ name }) => name },
  { head: 'TYPE', value: ({ type }) => typeWords[type] },
  { head: 'VALUE', value: ({ value }) => value },
];
const idColumn: TableColumn<Variable> = { head: 'ID', value: ({ id }) => id, isId: true };

/** Of variables of one place. */
export const variableColumns: TableColumn<Variable>[] = [...ownColumns, idColumn];

/** Of variables that hold at a place. */
export const inheritedColumns: TableColumn<Variable>[] = [
  ...ownColumns,
  { head: 'FROM', value: ({ scope }) => scope },
  { head: 'HIDES', value: hiddenBy },
  idColumn,
];

/** @param place the parameter of the list; none for the organization */
export async function listOf(
  session: CommandSession,
  place: Readonly<Record<string, string>>,
): Promise<Variable[]> {
  const { id: organizationId } = await findOrganization(session);
  return session.client.call('listVariables', { query: { organizationId, ...place } });
}

/** @throws BadCall unless exactly one of the variables has the name, and the type if one is specified */
export function variableNamed(all: readonly Variable[], name: string, flags: TypeFlags = {}): Variable {
  const found = all.filter(
    (each) => each.name === name && (!flags.env || each.type === 0) && (!flags.var || each.type === 1),
  );
  const [one, other] = found;
  if (!one) throw new BadCall(`There is no variable "${plain(name)}" here.`);
  if (other)
    throw new BadCall(
      `"${plain(name)}" is the name of a terraform variable and of an environment variable: ` +
        'add --env or --var to "envarium variables show" or "unset".',
    );
  return one;
}

/** @returns its name, or undefined where the caller may not see it */
async function nameOfScope(
  { client }: CommandSession,
  { scope, scopeId = '' }: Variable,
): Promise<string | undefined> {
  const request = { params: { id: scopeId } };
  if (scope === 'SET') return (await client.call('getConfigurationSet', request)).name;
  if (scope === 'PROJECT') return (await client.call('getProject', request)).name;
  if (scope === 'BLUEPRINT') return (await client.call('getTemplate', request)).name;
  if (scope === 'ENVIRONMENT' || scope === 'WORKFLOW')
    return (await client.call('getEnvironment', request)).name;
  return undefined;
}

/** Origin of a variable: the scope with the name of the place, or with its id if the caller may not see it. */
export async function originOf(session: CommandSession, variable: Variable): Promise<string> {
  const name = await nameOfScope(session, variable).catch((error: unknown) => {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return undefined;
    throw error;
  });
  return [variable.scope, name ?? variable.scopeId].filter(Boolean).join(' ');
}
