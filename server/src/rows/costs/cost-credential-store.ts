/** SQL of the credentials that read the costs of projects. */
import type { Selectable } from 'kysely';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { rowsWhere } from '../row-queries.ts';
import type { CostCredentialAssignmentTable } from '../schema.ts';

export type CostCredentialRow = Selectable<CostCredentialAssignmentTable>;

/** Those of a project itself, newest assignment first. */
export const listCostCredentialRows = rowsWhere(
  'cost_credential_assignment',
  'project_id',
  'created_at desc',
  'credential_id desc',
);

/** @returns whether it is a new one */
export async function insertCostCredential(
  tx: Connection,
  context: ActorContext,
  projectId: string,
  credentialId: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('cost_credential_assignment')
    .values({
      project_id: projectId,
      credential_id: credentialId,
      created_by: context.actor.userId,
      created_at: context.now(),
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'credential_id']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** @returns whether there was one */
export async function deleteCostCredential(
  tx: Connection,
  projectId: string,
  credentialId: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('cost_credential_assignment')
    .where('project_id', '=', projectId)
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The ids of the projects whose costs a credential reads. */
export async function projectsReadBy(db: Connection, credentialId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('cost_credential_assignment')
    .select('project_id')
    .where('credential_id', '=', credentialId)
    .execute();
  return rows.map((row) => row.project_id);
}
