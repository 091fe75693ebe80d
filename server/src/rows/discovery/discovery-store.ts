/** SQL of the configurations of environment discovery: at most one for each project. */
import type { Insertable, Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import type { DiscoveryTable } from '../schema.ts';

export type DiscoveryRow = Selectable<DiscoveryTable>;

/** The part that people configure; the service keeps the rest. */
export type DiscoveryColumns = Pick<
  DiscoveryRow,
  | 'type'
  | 'glob_pattern'
  | 'root_path'
  | 'environment_placement'
  | 'workspace_naming'
  | 'auto_deploy_by_custom_glob'
  | 'creates_from_pull_requests'
  | 'repository_regex'
  | 'on_removal'
  | 'removal_limit_percent'
  | 'updated_by'
  | 'updated_at'
  | 'next_poll_at'
>;

export async function getDiscovery(db: Connection, projectId: string): Promise<DiscoveryRow | undefined> {
  return db.selectFrom('discovery').selectAll().where('project_id', '=', projectId).executeTakeFirst();
}

/** The configuration, locked until the transaction ends. @param mode `share`: against changes of it only */
export async function lockDiscovery(
  tx: Connection,
  projectId: string,
  mode: 'share' | 'update' = 'update',
): Promise<DiscoveryRow | undefined> {
  const query = tx.selectFrom('discovery').selectAll().where('project_id', '=', projectId);
  return (mode === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst();
}

export async function insertDiscovery(
  tx: Connection,
  row: DiscoveryColumns & Pick<Insertable<DiscoveryTable>, 'project_id' | 'template_id' | 'created_at'>,
): Promise<DiscoveryRow> {
  return tx.insertInto('discovery').values(row).returningAll().executeTakeFirstOrThrow();
}

/** Replaces what people configure, as a new version. */
export async function replaceDiscovery(
  tx: Connection,
  projectId: string,
  columns: DiscoveryColumns,
): Promise<DiscoveryRow> {
  return tx
    .updateTable('discovery')
    .set((eb) => ({ ...columns, version: eb('version', '+', 1) }))
    .where('project_id', '=', projectId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteDiscoveryRow(tx: Connection, projectId: string): Promise<void> {
  await tx.deleteFrom('discovery').where('project_id', '=', projectId).execute();
}

/**
 * Stores the mark of what a version has read; polls compare the repositories with it.
 * @param mark null: they are read again in any case
 */
export async function setScanned(
  db: Connection,
  { project_id, version }: Pick<DiscoveryRow, 'project_id' | 'version'>,
  mark: string | null,
): Promise<void> {
  await db
    .updateTable('discovery')
    .set({ scanned_commit: mark, scanned_version: version })
    .where('project_id', '=', project_id)
    .where('version', '=', version)
    .execute();
}

/** Locks one whose repository is to be asked now, and which no other server handles. */
export async function lockDueDiscovery(tx: Connection, now: Date): Promise<DiscoveryRow | undefined> {
  return tx
    .selectFrom('discovery')
    .selectAll()
    .where('next_poll_at', '<=', now)
    .orderBy('next_poll_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

export async function setNextPoll(tx: Connection, projectId: string, at: Date): Promise<void> {
  await tx.updateTable('discovery').set({ next_poll_at: at }).where('project_id', '=', projectId).execute();
}

/** Configurations with these templates. */
export async function discoveriesOf(db: Connection, templateIds: readonly string[]): Promise<DiscoveryRow[]> {
  if (templateIds.length === 0) return [];
  return db
    .selectFrom('discovery')
    .selectAll()
    .where('template_id', 'in', [...templateIds])
    .execute();
}

/** Configurations of some projects that have discovery files. */
export async function fileDiscoveriesOf(
  db: Connection,
  projectIds: readonly string[],
): Promise<DiscoveryRow[]> {
  if (projectIds.length === 0) return [];
  return db
    .selectFrom('discovery')
    .selectAll()
    .where('project_id', 'in', [...projectIds])
    .where('repository_regex', 'is not', null)
    .execute();
}
