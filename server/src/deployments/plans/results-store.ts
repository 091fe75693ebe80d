/** SQL of what an environment has, as its runs have read it. */
import { sql, type Selectable } from 'kysely';
import type { Connection } from '../../context.ts';
import type { DeploymentTable } from '../../database/schema.ts';
import type { DeploymentRow } from '../deployment-store.ts';

export type LastResults = Pick<Selectable<DeploymentTable>, 'id' | 'type' | 'status' | 'sealed_output'>;

/** The last run of an environment that read or removed what it has; undefined: there was none. */
export async function lastResults(
  db: Connection,
  { environment_id: environmentId, number }: Pick<DeploymentRow, 'environment_id' | 'number'>,
): Promise<LastResults | undefined> {
  return db
    .selectFrom('deployment')
    .select(['id', 'type', 'status', 'sealed_output'])
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

/**
 * Whether an environment still has what its last run has read: the state is the one that the run stored or found, and
 * no run has begun to change anything since. Where the service does not have the state, only runs are known.
 */
export async function isAsRead(
  db: Connection,
  { environment_id: environmentId, number }: Pick<DeploymentRow, 'environment_id' | 'number'>,
  last: Pick<LastResults, 'id'>,
): Promise<boolean> {
  const { rows } = await sql<{ is_same: boolean }>`
    select environment.current_state_version_id is not distinct from
        coalesce(last.state_version_id, last.planned_on_state_version_id)
      and not exists (
        select from deployment as later
          join job on job.deployment_id = later.id
          join attempt on attempt.job_id = job.id and attempt.mark is not null
        where later.environment_id = environment.id and later.number > last.number
          and later.number < ${number}) as is_same
    from environment join deployment as last on last.id = ${last.id}
    where environment.id = ${environmentId}`.execute(db);
  return rows[0]?.is_same === true;
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
