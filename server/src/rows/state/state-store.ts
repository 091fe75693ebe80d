/** SQL of state versions: which one is current, what each follows. */
import { type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';
import { type FindHome, isUuid } from '../entity-home.ts';
import { environmentHome, lockEnvironmentRow } from '../environments/environment-store.ts';
import { rowById } from '../row-queries.ts';
import type { StateVersionTable } from '../schema.ts';

export type StateVersionRow = Selectable<StateVersionTable>;

export const getStateVersion = rowById('state_version');

/** The current states of some environments, and how many resources they list; null: that is not known. */
export async function listCurrentStates(
  db: Connection,
  environmentIds: readonly string[],
): Promise<Pick<StateVersionRow, 'environment_id' | 'resource_count'>[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('state_version')
    .select(['environment_id', 'resource_count'])
    .where('environment_id', 'in', [...environmentIds])
    .where('standing', '=', 'current')
    .orderBy('environment_id')
    .execute();
}

export async function getStateVersionOfAttempt(
  db: Connection,
  jobId: string,
  attempt: number,
): Promise<StateVersionRow | undefined> {
  return db
    .selectFrom('state_version')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('attempt', '=', attempt)
    .executeTakeFirst();
}

/** The deployments that wrote the content of versions; a roll-back or a promotion has that of another version. */
export async function deploymentsBehind(db: Connection, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .withRecursive('behind', (query) =>
      query
        .selectFrom('state_version')
        .select(['id', 'deployment_id', 'made_from_id'])
        .where('id', 'in', [...ids])
        .union((eb) =>
          eb
            .selectFrom('state_version as version')
            .innerJoin('behind', 'behind.made_from_id', 'version.id')
            .select(['version.id', 'version.deployment_id', 'version.made_from_id']),
        ),
    )
    .selectFrom('behind')
    .select('deployment_id')
    .execute();
  return rows.flatMap((row) => row.deployment_id ?? []);
}

/** A page, newest first. */
export async function listStateVersions(
  db: Connection,
  environmentId: string,
  page: { limit: number; offset: number },
): Promise<StateVersionRow[]> {
  return db
    .selectFrom('state_version')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('number', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

/** The size of the rescued versions of an environment. @param least what each counts at least */
export async function rescuedBytes(
  db: Connection,
  environmentId: string,
  { least, exceptId }: { readonly least: number; readonly exceptId: string | undefined },
): Promise<number> {
  const rows = db
    .selectFrom('state_version')
    .select((eb) => eb.fn.sum(eb.fn<number>('greatest', ['bytes', eb.val(least)])).as('bytes'))
    .where('environment_id', '=', environmentId)
    .where('standing', '=', 'rescued');
  const others = exceptId === undefined ? rows : rows.where('id', '!=', exceptId);
  return Number((await others.executeTakeFirstOrThrow()).bytes ?? 0);
}

export async function countStateVersions(db: Connection, environmentId: string): Promise<number> {
  const row = await db
    .selectFrom('state_version')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('environment_id', '=', environmentId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * The highest serial that the environment's state ever had, whatever its lineage; null where there was none.
 */
export async function highestSerial(db: Connection, environmentId: string): Promise<number | null> {
  const row = await db
    .selectFrom('state_version')
    .select((eb) => eb.fn.max('serial').as('serial'))
    .where('environment_id', '=', environmentId)
    .executeTakeFirst();
  return row?.serial ?? null;
}

/** The version that was written under a lock of the state, if any. */
export async function getStateVersionOfLock(
  db: Connection,
  environmentId: string,
  lockId: string,
): Promise<StateVersionRow | undefined> {
  return db
    .selectFrom('state_version')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('lock_id', '=', lockId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const stateOrigins = ['run', 'moved', 'http', 'import', 'rollback', 'promotion'] as const;
export type StateOrigin = (typeof stateOrigins)[number];

export interface NewStateVersion {
  readonly id: string;
  readonly environmentId: string;
  readonly deploymentId: string | null;
  readonly jobId: string | null;
  readonly attempt: number | null;
  readonly origin: StateOrigin;
  /** The person or key that made it; null: a run did. */
  readonly createdBy: string | null;
  readonly comment?: string | undefined;
  readonly toolVersion: string | null;
  readonly madeFromId?: string;
  readonly lockId?: string;
  readonly serial: number;
  readonly lineage: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly followsId: string | null;
  readonly standing: 'current' | 'rescued';
  /** Only the operator may read it. */
  readonly isWithheld?: boolean;
  readonly blob: BlobRef;
  readonly resourceCount: number | null;
  readonly at: Date;
}

export async function insertStateVersion(tx: Connection, version: NewStateVersion): Promise<StateVersionRow> {
  return tx
    .insertInto('state_version')
    .values({
      id: version.id,
      environment_id: version.environmentId,
      deployment_id: version.deploymentId,
      job_id: version.jobId,
      attempt: version.attempt,
      origin: version.origin,
      created_by: version.createdBy,
      comment: version.comment ?? null,
      terraform_version: version.toolVersion,
      made_from_id: version.madeFromId ?? null,
      lock_id: version.lockId ?? null,
      serial: version.serial,
      lineage: version.lineage,
      sha256: version.sha256,
      bytes: version.bytes,
      follows_id: version.followsId,
      standing: version.standing,
      is_withheld: version.isWithheld ?? false,
      blob: JSON.stringify(version.blob),
      resource_count: version.resourceCount,
      created_at: version.at,
      updated_at: version.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A later version of the same attempt replaces the earlier one: one listed version per attempt. */
export async function replaceStateContent(
  tx: Connection,
  id: string,
  version: Pick<
    NewStateVersion,
    'serial' | 'lineage' | 'sha256' | 'bytes' | 'blob' | 'resourceCount' | 'toolVersion' | 'at'
  >,
): Promise<StateVersionRow> {
  return tx
    .updateTable('state_version')
    .set({
      serial: version.serial,
      lineage: version.lineage,
      sha256: version.sha256,
      bytes: version.bytes,
      blob: JSON.stringify(version.blob),
      resource_count: version.resourceCount,
      terraform_version: version.toolVersion,
      updated_at: version.at,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Superseded versions that are old enough to be removed. */
export interface OldVersions {
  /** Not the newest ones of an environment; rescued ones are not counted. */
  readonly kept: number;
  readonly before: Date;
}

function oldVersions(db: Connection, { kept, before }: OldVersions) {
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom('state_version')
        .select(['id', 'environment_id', 'standing', 'updated_at'])
        .select(sql<number>`row_number() over (partition by environment_id order by number desc)`.as('place'))
        .where('standing', '<>', 'rescued')
        .as('version'),
    )
    .where('standing', '=', 'superseded')
    .where('updated_at', '<', before)
    .where('place', '>', kept);
}

/** @returns ids of the environments that have versions to be removed */
export async function environmentsWithOldVersions(db: Connection, old: OldVersions): Promise<string[]> {
  const rows = await oldVersions(db, old).select('environment_id').distinct().execute();
  return rows.map((row) => row.environment_id);
}

/** @returns ids of the versions of an environment that may be removed, at most a thousand */
export async function listOldVersions(
  db: Connection,
  environmentId: string,
  old: OldVersions,
): Promise<string[]> {
  const rows = await oldVersions(db, old)
    .select('id')
    .where('environment_id', '=', environmentId)
    .limit(1000)
    .execute();
  return rows.map((row) => row.id);
}

/** Removes versions. @returns the ids of their files, which the caller must remove */
export async function deleteStateVersions(tx: Connection, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .deleteFrom('state_version')
    .where('id', 'in', [...ids])
    .returning('blob')
    .execute();
  return rows.map(({ blob }) => blob.id);
}

/** The environments that ever had a state of a lineage, other than a withheld one. */
export async function environmentsOfLineage(db: Connection, lineage: string): Promise<string[]> {
  const rows = await db
    .selectFrom('state_version')
    .select('environment_id')
    .distinct()
    .where('lineage', '=', lineage)
    .where('is_withheld', '=', false)
    .execute();
  return rows.map((row) => row.environment_id);
}

/** The version stays as it is, and the attempt may store another one. */
export async function detachFromAttempt(tx: Connection, id: string): Promise<void> {
  await tx.updateTable('state_version').set({ job_id: null, attempt: null }).where('id', '=', id).execute();
}

export async function setStanding(
  tx: Connection,
  id: string,
  standing: 'current' | 'superseded' | 'rescued',
): Promise<void> {
  await tx.updateTable('state_version').set({ standing }).where('id', '=', id).execute();
}

/** The current version of an environment, if any, is no longer current. */
export async function supersedeCurrent(tx: Connection, environmentId: string): Promise<void> {
  await tx
    .updateTable('state_version')
    .set({ standing: 'superseded' })
    .where('environment_id', '=', environmentId)
    .where('standing', '=', 'current')
    .execute();
}

/** Locks the environment of a version: what changes versions takes this lock first. */
export async function lockStateVersion(tx: Connection, id: string): Promise<void> {
  const row = await tx
    .selectFrom('state_version')
    .select('environment_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (row) await lockEnvironmentRow(tx, row.environment_id);
}

/** Home of a state version: that of its environment. */
export const stateVersionHome: FindHome = async (db, id) => {
  const row = isUuid(id)
    ? await db.selectFrom('state_version').select('environment_id').where('id', '=', id).executeTakeFirst()
    : undefined;
  return row && environmentHome(db, row.environment_id);
};
