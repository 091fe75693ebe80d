/** SQL of who may read a state in addition to those with the right. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { StateAccessTable } from '../schema.ts';

export type StateAccessRow = Selectable<StateAccessTable>;

export async function getStateAccessRow(
  db: Connection,
  environmentId: string,
): Promise<StateAccessRow | undefined> {
  return db
    .selectFrom('state_access')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();
}

/** Stores the access of an environment; the id of a row that exists already is unchanged. */
export async function putStateAccessRow(
  tx: Connection,
  { environment_id, id, ...columns }: Insertable<StateAccessTable>,
): Promise<void> {
  await tx
    .insertInto('state_access')
    .values({ environment_id, id, ...columns })
    .onConflict((conflict) => conflict.column('environment_id').doUpdateSet(columns))
    .execute();
}

export async function deleteStateAccessRow(tx: Connection, environmentId: string): Promise<void> {
  await tx.deleteFrom('state_access').where('environment_id', '=', environmentId).execute();
}
