/** Texts that replace another format, without losing the choices that a variable allows. */
import type { Client } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { VariableSchema } from '#contract/variables/shapes.ts';
import type { VariableEntry } from './variable-file.ts';

/** A change whose schema may have choices. */
export type ChangeWithChoices = Omit<VariableEntry, 'schema'> & { readonly schema?: VariableSchema };

/** Place where changes are stored, as parameters of a list of variables. */
export interface ChangedPlace {
  readonly organizationId: string;
  readonly environmentId?: string;
  readonly projectId?: string;
  readonly blueprintId?: string | undefined;
}

const isText = ({ schema }: VariableEntry) => schema !== undefined && schema.format === undefined;

/** A change with the choices of the variable that it changes. @param stored that variable, if there is one */
export function withChoices(
  change: VariableEntry,
  stored: { readonly schema?: VariableSchema } | undefined,
): ChangeWithChoices {
  const choices = stored?.schema?.enum;
  return isText(change) && choices ? { ...change, schema: { type: 'string', enum: choices } } : change;
}

/**
 * A schema replaces the whole one that is stored: that of a text has to repeat the choices.
 * @param client of the service
 * @param place where the changes are stored; requested only if one of them is a text that says so
 * @param changes of the call
 * @returns the changes with the choices that the variables have there
 * @throws ApiError
 */
export async function keepChoices(
  client: Client,
  place: ChangedPlace,
  changes: readonly VariableEntry[],
): Promise<ChangeWithChoices[]> {
  if (!changes.some(isText)) return [...changes];
  const stored = await client.call('listVariables', { query: { ...place } });
  return changes.map((change) =>
    withChoices(
      change,
      stored.find(({ name, type }) => name === change.name && type === change.type),
    ),
  );
}

/**
 * The variables of a call as those of an existing environment.
 * @param environment that has them
 * @param blueprintId the template that the environment is switched to
 * @returns undefined if there are none
 * @throws ApiError
 */
export async function changesIn(
  client: Client,
  { id: environmentId, organizationId }: Pick<Environment, 'id' | 'organizationId'>,
  changes: readonly VariableEntry[],
  blueprintId?: string,
): Promise<ChangeWithChoices[] | undefined> {
  if (changes.length === 0) return undefined;
  return keepChoices(client, { organizationId, environmentId, blueprintId }, changes);
}
