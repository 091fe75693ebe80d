/** SQL of state versions: which one is current, what each follows. */
import type { Selectable } from 'kysely';
import type { BlobRef } from '../blobs/blob-store.ts';
import type { Connection } from '../context.ts';
import type { StateVersionTable } from '../database/schema.ts';

export type StateVersionRow = Selectable<StateVersionTable>;

export async function getStateVersion(db: Connection, id: string): Promise<StateVersionRow | undefined> {
  return db.selectFrom('state_version').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function getStateVersionOfAttempt(db: Connection, jobId: string, attempt: number): Promise<StateVersionRow | undefined> {
  return db.selectFrom('state_version').selectAll().where('job_id', '=', jobId).where('attempt', '=', attempt).executeTakeFirst();
}

/** Newest first. */
export async function listStateVersions(db: Connection, environmentId: string): Promise<StateVersionRow[]> {
  return db.selectFrom('state_version').selectAll().where('environment_id', '=', environmentId).orderBy('number', 'desc').execute();
}

export interface NewStateVersion {
  readonly id: string;
  readonly environmentId: string;
  readonly deploymentId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly serial: number;
  readonly lineage: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly followsId: string | null;
  readonly standing: 'current' | 'rescued';
  readonly blob: BlobRef;
  readonly resourceCount: number;
  readonly at: Date;
}

export async function insertStateVersion(tx: Connection, version: NewStateVersion): Promise<void> {
  await tx
    .insertInto('state_version')
    .values({
      id: version.id,
      environment_id: version.environmentId,
      deployment_id: version.deploymentId,
      job_id: version.jobId,
      attempt: version.attempt,
      serial: version.serial,
      lineage: version.lineage,
      sha256: version.sha256,
      bytes: version.bytes,
      follows_id: version.followsId,
      standing: version.standing,
      blob: JSON.stringify(version.blob),
      resource_count: version.resourceCount,
      created_at: version.at,
      updated_at: version.at,
    })
    .execute();
}

/** A later version of the same attempt takes the place of the earlier one: one listed version per attempt. */
export async function replaceStateContent(
  tx: Connection,
  id: string,
  version: Pick<NewStateVersion, 'serial' | 'lineage' | 'sha256' | 'bytes' | 'blob' | 'resourceCount' | 'at'>,
): Promise<void> {
  await tx
    .updateTable('state_version')
    .set({
      serial: version.serial,
      lineage: version.lineage,
      sha256: version.sha256,
      bytes: version.bytes,
      blob: JSON.stringify(version.blob),
      resource_count: version.resourceCount,
      updated_at: version.at,
    })
    .where('id', '=', id)
    .execute();
}

/** The version stays as it is, and the attempt may store another one. */
export async function detachFromAttempt(tx: Connection, id: string): Promise<void> {
  await tx.updateTable('state_version').set({ job_id: null, attempt: null }).where('id', '=', id).execute();
}

/** The current version of an environment, if any, gives its place up. */
export async function supersedeCurrent(tx: Connection, environmentId: string): Promise<void> {
  await tx
    .updateTable('state_version')
    .set({ standing: 'superseded' })
    .where('environment_id', '=', environmentId)
    .where('standing', '=', 'current')
    .execute();
}
