/** The variables of a configuration set, as requests about the set write them. */
import type { Static } from 'typebox';
import {
  normalizeVariableChanges,
  type VariableChange,
  type VariableChangeBody,
  variableChangeFields,
} from '#contract/variables/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import type { SetRow } from '../../rows/configuration-sets/configuration-set-store.ts';
import { listVariablesOf, type VariableRow } from '../../rows/variables/variable-store.ts';
import { applyVariableChanges } from '../variables/apply-variable-changes.ts';

type SentVariable = Static<typeof VariableChangeBody>;

/** A variable that says where it belongs must say this set. */
function checkHome(set: SetRow, { scope, scopeId, organizationId }: SentVariable, field: string): void {
  if (scope !== undefined && scope !== 'SET')
    throw badField(`${field}.scope`, 'must be SET, or absent: it is a variable of a configuration set');
  if (scopeId !== undefined && scopeId !== '' && scopeId.toLowerCase() !== set.id)
    throw badField(`${field}.scopeId`, `must be the id of the configuration set (${set.id}), or absent`);
  if (organizationId && organizationId.toLowerCase() !== set.organization_id)
    throw badField(`${field}.organizationId`, 'must be the organization of the configuration set, or absent');
}

/** Defaults of a variable that is created without settings. */
const usual = {
  isSensitive: false,
  isReadonly: false,
  isRequired: false,
  isOutput: false,
  regex: '',
  description: '',
  schema: {},
} as const satisfies Partial<VariableChange>;

/** Without an id, a variable that the set already has is replaced; its id and a value that is not sent remain. */
function replacing(change: VariableChange, rows: readonly VariableRow[]): VariableChange {
  if (change.id || change.toDelete) return change;
  const row = rows.find(({ name, type }) => name === change.name && type === (change.type ?? 0));
  return row ? { ...usual, ...change, id: row.id } : change;
}

/**
 * Creates, changes and removes variables of a set.
 * @param field location of the changes, as `body.configurationProperties`
 * @throws Refusal that names the field of the first change that cannot be stored
 */
export async function changeSetVariables(
  context: ActorContext,
  set: SetRow,
  changes: readonly SentVariable[],
  field: string,
): Promise<void> {
  if (changes.length === 0) return;
  const fields = variableChangeFields([...changes], field);
  for (const [index, change] of changes.entries()) checkHome(set, change, fields[index] ?? field);
  const home = {
    scope: 'SET',
    scopeId: set.id,
    organizationId: set.organization_id,
    projectId: set.project_id,
    inherits: [],
  } as const;
  const named = new Set(changes.map(({ id }) => id?.toLowerCase()));
  const rows = (await listVariablesOf(context.db, [home])).filter(({ id }) => !named.has(id));
  const normalized = normalizeVariableChanges([...changes]).map((change) => replacing(change, rows));
  await applyVariableChanges(context, home, normalized, fields);
}
