/** SQL of the folders, and of the entries of discovery files, that environment discovery found. */

import { expressionBuilder, type Insertable, type Selectable, sql } from 'kysely';
import type { FolderStatus } from '#contract/discovery/choices.ts';

import type { Connection } from '../../framework/context.ts';
import type { DiscoveryFolderTable, Schema } from '../schema.ts';

export type FolderRow = Selectable<DiscoveryFolderTable>;

/** The folders of a project in one repository, or the entries of all its discovery files. */
export interface FolderPlace {
  readonly projectId: string;
  /** Empty: entries, as configurations of discovery files have no repository. */
  readonly repository: string;
}

/** The key of a row. */
export type FolderKey = Pick<FolderRow, 'project_id' | 'kind' | 'repository' | 'folder'>;

/** The condition for the row of a key. */
function isRow({ project_id, kind, repository, folder }: FolderKey) {
  const { and } = expressionBuilder<Schema, 'discovery_folder'>();
  return and({ project_id, kind, repository, folder });
}

/** Parameters of one statement: PostgreSQL accepts 65,535. */
const rowsAtOnce = 1000;

function inPlace(db: Connection, { projectId, repository }: FolderPlace) {
  const query = db.selectFrom('discovery_folder').where('project_id', '=', projectId);
  return repository === ''
    ? query.where('kind', '=', 'entry')
    : query.where('kind', '=', 'folder').where('repository', '=', repository);
}

/** All of them, by repository and path. */
export async function listFolders(db: Connection, place: FolderPlace): Promise<FolderRow[]> {
  return inPlace(db, place).selectAll().orderBy('repository').orderBy('folder').execute();
}

/** Stores what a scan has found; the environment of a folder stays as it is. */
export async function storeFolders(
  tx: Connection,
  rows: readonly Insertable<DiscoveryFolderTable>[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce)
    await tx
      .insertInto('discovery_folder')
      .values(rows.slice(at, at + rowsAtOnce))
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'kind', 'repository', 'folder']).doUpdateSet((eb) => ({
          file: eb.ref('excluded.file'),
          file_id: eb.ref('excluded.file_id'),
          tree_id: eb.ref('excluded.tree_id'),
          status: eb.ref('excluded.status'),
          reason: eb.ref('excluded.reason'),
          environment_name: eb.ref('excluded.environment_name'),
          environment_project_id: eb.ref('excluded.environment_project_id'),
          workspace_name: eb.ref('excluded.workspace_name'),
          renamed_from: eb.ref('excluded.renamed_from'),
          sealed_entry: eb.ref('excluded.sealed_entry'),
        })),
      )
      .execute();
}

/** Removes rows of folders that are neither in the repository nor have an environment. */
export async function forgetFolders(
  tx: Connection,
  { projectId, repository }: FolderPlace,
  forgotten: readonly Pick<FolderRow, 'repository' | 'folder'>[],
): Promise<void> {
  if (forgotten.length === 0) return;
  const repositories = forgotten.map((each) => each.repository);
  const folders = forgotten.map((each) => each.folder);
  await tx
    .deleteFrom('discovery_folder')
    .where('project_id', '=', projectId)
    .where('kind', '=', repository === '' ? 'entry' : 'folder')
    .where(
      sql<boolean>`(repository, folder) in (select * from unnest(${repositories}::text[], ${folders}::text[]))`,
    )
    .where('environment_id', 'is', null)
    .execute();
}

/** The next folder in one of these states that no other server works on; locked until the transaction ends. */
export async function lockNextFolder(
  tx: Connection,
  place: FolderPlace,
  statuses: readonly FolderStatus[],
): Promise<FolderRow | undefined> {
  return inPlace(tx, place)
    .selectAll()
    .where('status', 'in', [...statuses])
    .orderBy('repository')
    .orderBy('folder')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

/** The folder, locked until the transaction ends. */
export async function lockFolder(
  tx: Connection,
  place: FolderPlace,
  folder: string,
): Promise<FolderRow | undefined> {
  return inPlace(tx, place).selectAll().where('folder', '=', folder).forUpdate().executeTakeFirst();
}

export async function updateFolder(
  tx: Connection,
  key: FolderKey,
  changes: Partial<
    Pick<
      FolderRow,
      | 'status'
      | 'reason'
      | 'environment_id'
      | 'renamed_from'
      | 'tree_id'
      | 'file_id'
      | 'workspace_name'
      | 'variable_names'
    >
  >,
): Promise<void> {
  await tx.updateTable('discovery_folder').set(changes).where(isRow(key)).execute();
}

export async function deleteFolder(tx: Connection, key: FolderKey): Promise<void> {
  await tx.deleteFrom('discovery_folder').where(isRow(key)).execute();
}

/** The folders and entries, of any project, that manage some environments. */
export async function foldersOfEnvironments(
  db: Connection,
  environmentIds: readonly string[],
): Promise<FolderRow[]> {
  if (environmentIds.length === 0) return [];
  return db
    .selectFrom('discovery_folder')
    .selectAll()
    .where('environment_id', '=', sql<string>`any(${environmentIds}::uuid[])`)
    .execute();
}
