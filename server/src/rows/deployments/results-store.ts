/** SQL of what an environment has, as its runs have read it. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { DeploymentTable } from '../schema.ts';
import type { DeploymentRow } from './deployment-store.ts';

export type LastResults = Pick<
  Selectable<DeploymentTable>,
  'id' | 'number' | 'type' | 'status' | 'sealed_output' | 'state_version_id' | 'planned_on_state_version_id'
>;

/** The last run of an environment that read or removed what it has; undefined: there was none. */
export async function lastResults(
  db: Connection,
  { environment_id: environmentId, number }: Pick<DeploymentRow, 'environment_id' | 'number'>,
): Promise<LastResults | undefined> {
  return db
    .selectFrom('deployment')
    .select([
      'id',
      'number',
      'type',
      'status',
      'sealed_output',
      'state_version_id',
      'planned_on_state_version_id',
    ])
    .where('environment_id', '=', environmentId)
    .where('number', '<', number)
    .where('type', 'in', ['deploy', 'destroy', 'task'])
    .where((eb) =>
      eb.or([
        eb('output', 'is not', null),
        eb.and([eb('type', '=', 'destroy'), eb('status', '=', 'SUCCESS')]),
      ]),
    )
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Gives a deployment no outputs and no resources. */
export async function storeNoResults(db: Connection, id: string): Promise<void> {
  await db
    .updateTable('deployment')
    .where('id', '=', id)
    .set({
      output: JSON.stringify({}),
      sealed_output: null,
      resources: JSON.stringify([]),
      resource_count: 0,
    })
    .execute();
}

/**
 * Gives a deployment the outputs and resources of another one. They are copied in the database: no digit can be lost.
 * @param sealedOutput sealed for the deployment that gets it
 */
export async function copyResults(
  db: Connection,
  { from, to, sealedOutput }: { from: string; to: string; sealedOutput: Buffer | null },
): Promise<void> {
  await db
    .updateTable('deployment')
    .from('deployment as last')
    .where('deployment.id', '=', to)
    .where('last.id', '=', from)
    .set({
      output: sql<string | null>`last.output`,
      resources: sql<string | null>`last.resources`,
      resource_count: sql<number>`last.resource_count`,
      state_file_hash: sql<string | null>`last.state_file_hash`,
      sealed_output: sealedOutput,
    })
    .execute();
}
