/** Inputs of the runs of a deployment: separate from its row, which is read far more often. */
import type { Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import type { DeploymentTable } from '../schema.ts';
import type { GivenColumn } from './deployment-row.ts';

export type GivenRow = Pick<Selectable<DeploymentTable>, 'id' | 'organization_id' | GivenColumn>;

const selectGiven = statement<GivenRow>(
  'select id, organization_id, variables, sealed_inputs from deployment where id = $1',
);

/** Inputs of the runs of a deployment. */
export async function getGiven(db: Connection, id: string): Promise<GivenRow | undefined> {
  const [row] = await selectGiven(db, id);
  return row;
}

const selectSealedInputs = statement<Pick<GivenRow, 'id' | 'sealed_inputs'>>(
  'select id, sealed_inputs from deployment where id = any($1)',
);

/** The sealed inputs of those deployments that there are. */
export async function getSealedInputs(
  db: Connection,
  ids: readonly string[],
): Promise<Pick<GivenRow, 'id' | 'sealed_inputs'>[]> {
  return ids.length === 0 ? [] : selectSealedInputs(db, ids);
}
