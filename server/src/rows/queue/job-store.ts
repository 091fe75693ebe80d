/** SQL of jobs: the work that agents take. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { JobTable } from '../schema.ts';

export type JobRow = Selectable<JobTable>;

export async function insertJob(tx: Connection, row: Insertable<JobTable>): Promise<JobRow> {
  return tx.insertInto('job').values(row).returningAll().executeTakeFirstOrThrow();
}

/** @throws Error for an id that no job has */
export async function getJob(db: Connection, id: string): Promise<JobRow> {
  return db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

/** The newest one: a deployment has one for each of its levels. */
export async function getApplyJob(db: Connection, deploymentId: string): Promise<JobRow | undefined> {
  return db
    .selectFrom('job')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .where('phase', '=', 'apply')
    .orderBy('level', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function setJobStatus(tx: Connection, id: string, status: JobRow['status']): Promise<void> {
  await tx.updateTable('job').set({ status }).where('id', '=', id).execute();
}

/** Takes a deployment's unclaimed job out of the queue. @returns whether there was one */
export async function withdrawJob(tx: Connection, deploymentId: string): Promise<boolean> {
  const rows = await tx
    .updateTable('job')
    .set({ status: 'done' })
    .where('deployment_id', '=', deploymentId)
    .where('status', '=', 'queued')
    .returning('id')
    .execute();
  return rows.length > 0;
}
