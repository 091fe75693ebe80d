/** SQL of the files that are transferred from a plan to its apply, and of files that no row names. */
import { sql } from 'kysely';
import { terminalStatuses } from '#contract/life-cycle/life-cycle.ts';
import type { Connection } from '../../framework/context.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';
import { isUuid } from '../entity-home.ts';
import type { AttemptKey } from './attempt-store.ts';

/** A blob that is in a file. */
export type BlobFile = Pick<BlobRef, 'id'>;

const blobId = sql<string>`blob ->> 'id'`.as('id');
const isInline = sql<boolean>`blob ? 'sealed'`.as('isInline');

function filesOf(rows: readonly { readonly id: string; readonly isInline: boolean }[]): BlobFile[] {
  return rows.filter((row) => !row.isInline).map(({ id }) => ({ id }));
}

/** @param name of the file */
export async function getAttemptBlob(
  db: Connection,
  attempt: AttemptKey,
  name: string,
): Promise<BlobRef | undefined> {
  const row = await db
    .selectFrom('attempt_blob')
    .select('blob')
    .where('job_id', '=', attempt.job_id)
    .where('attempt', '=', attempt.number)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.blob;
}

/** @returns false where the attempt has a blob of this name */
export async function addAttemptBlob(
  db: Connection,
  attempt: AttemptKey,
  name: string,
  blob: BlobRef,
): Promise<boolean> {
  const row = await db
    .insertInto('attempt_blob')
    .values({ job_id: attempt.job_id, attempt: attempt.number, name, blob: JSON.stringify(blob) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** The same, in place of another one. */
export async function putAttemptBlob(
  tx: Connection,
  attempt: AttemptKey,
  name: string,
  blob: BlobRef,
): Promise<void> {
  await tx
    .insertInto('attempt_blob')
    .values({ job_id: attempt.job_id, attempt: attempt.number, name, blob: JSON.stringify(blob) })
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'attempt', 'name']).doUpdateSet({ blob: JSON.stringify(blob) }),
    )
    .execute();
}

/** The file of this name that the last attempt of a deployment's newest plan left. */
export async function getPlannedBlob(
  db: Connection,
  deploymentId: string,
  name: string,
): Promise<BlobRef | undefined> {
  const row = await db
    .selectFrom('attempt_blob')
    .innerJoin('job', 'job.id', 'attempt_blob.job_id')
    .select('attempt_blob.blob')
    .where('job.deployment_id', '=', deploymentId)
    .where('job.phase', '=', 'plan')
    .where('attempt_blob.name', '=', name)
    .orderBy('job.level', 'desc')
    .orderBy('attempt_blob.attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.blob;
}

/** Deletes the rows of a deployment. @returns their files */
export async function deleteBlobsOfDeployment(tx: Connection, deploymentId: string): Promise<BlobFile[]> {
  const rows = await tx
    .deleteFrom('attempt_blob')
    .where('job_id', 'in', (eb) =>
      eb.selectFrom('job').select('id').where('deployment_id', '=', deploymentId),
    )
    .returning([blobId, isInline])
    .execute();
  return filesOf(rows);
}

/** Deletes what the runs of an environment have stored. @returns the files, which the caller must remove */
export async function deleteAttemptBlobs(tx: Connection, environmentId: string): Promise<BlobFile[]> {
  const rows = await tx
    .deleteFrom('attempt_blob')
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('job')
        .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
        .select('job.id')
        .where('deployment.environment_id', '=', environmentId),
    )
    .returning([blobId, isInline])
    .execute();
  return filesOf(rows);
}

/** Deletes rows that agents stored after their deployments had ended. @returns their files */
export async function deleteLateAttemptBlobs(tx: Connection): Promise<BlobFile[]> {
  const rows = await tx
    .deleteFrom('attempt_blob')
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('job')
        .innerJoin('deployment', 'deployment.id', 'job.deployment_id')
        .select('job.id')
        .where('deployment.status', 'in', [...terminalStatuses]),
    )
    .returning([blobId, isInline])
    .execute();
  return filesOf(rows);
}

/**
 * Of several files, those that no row names, of runs and environments that this database has: files of
 * another database in the same folder are not listed.
 * @param ids of which the second part is the job or the environment that a file belongs to
 */
export async function listUnnamedBlobs(db: Connection, ids: readonly string[]): Promise<string[]> {
  const owned = ids.map((id) => ({ id, owner: id.split('/')[1] ?? '' })).filter(({ owner }) => isUuid(owner));
  const owners = owned.map(({ owner }) => owner);
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${owned.map(({ id }) => id)}::text[], ${owners}::uuid[]) as stored (id, owner)
    where not exists (select from attempt_blob where job_id = owner and blob ->> 'id' = stored.id)
      and not exists (select from state_version where environment_id = owner and blob ->> 'id' = stored.id)
      and not exists (select from source_archive where environment_id = owner and blob ->> 'id' = stored.id)
      and (exists (select from job where job.id = owner)
        or exists (select from environment where environment.id = owner))`.execute(db);
  return rows.map(({ id }) => id);
}
