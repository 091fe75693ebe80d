/** Inputs of the runs of a deployment: separate from its row, which is read far more often. */
import type { Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { DeploymentTable } from '../schema.ts';
import type { InputColumn } from './deployment-row.ts';

export type InputsRow = Pick<Selectable<DeploymentTable>, 'id' | 'organization_id' | InputColumn>;

const selectInputs = statement<InputsRow>(
  'select id, organization_id, variables, sealed_inputs from deployment where id = $1',
);

/** Inputs of the runs of a deployment. */
export async function getInputs(db: Connection, id: string): Promise<InputsRow | undefined> {
  const [row] = await selectInputs(db, id);
  return row;
}

const selectSealedInputs = statement<Pick<InputsRow, 'id' | 'sealed_inputs'>>(
  'select id, sealed_inputs from deployment where id = any($1)',
);

/** The sealed inputs of those deployments that there are. */
export async function getSealedInputs(
  db: Connection,
  ids: readonly string[],
): Promise<Pick<InputsRow, 'id' | 'sealed_inputs'>[]> {
  return ids.length === 0 ? [] : selectSealedInputs(db, ids);
}
