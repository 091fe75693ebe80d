/**
 * Creates the environments of new folders and entries, changes those of changed entries, and archives or destroys those
 * of what is gone.
 */

import { bulkRights } from '#contract/bulk-operations/operations.ts';
import type { FolderStatus } from '#contract/discovery/choices.ts';

import { operations } from '#contract/operations.ts';
import { rightsOf } from '#contract/schema/operation.ts';
import { requireEnvironment } from '../../framework/access/lock-or-refuse.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { whyUnavailable } from '../../ground/database/unavailable.ts';
import { Refusal } from '../../ground/errors.ts';
import { lockDiscovery } from '../../rows/discovery/discovery-store.ts';
import { type FolderRow, lockNextFolder, updateFolder } from '../../rows/discovery/folder-store.ts';
import { countScanned, getScan } from '../../rows/discovery/scan-store.ts';
import { inEnvironment } from '../../rows/places.ts';
import { destroyEnvironment } from '../../runs/deployments/deploy-environment.ts';
import { createEnvironmentWithoutTemplate } from '../../runs/environments/create-environment.ts';
import { updateEnvironment } from '../../runs/environments/update-environment.ts';
import { changeOfEntry, createOfEntry } from './act-on-entry.ts';
import { requireAuthorRights } from './author-rights.ts';
import { environmentBody } from './environment-body.ts';
import { planWords } from './plan-words.ts';
import type { ScanWork } from './scan-work.ts';

/** Maximum time in one go: less than effects may take. */
const workMilliseconds = 30_000;

async function create(context: ActorContext, work: ScanWork, row: FolderRow): Promise<void> {
  if (row.kind === 'entry') return createOfEntry(context, work, row);
  const projectId = row.environment_project_id ?? row.project_id;
  const rights = rightsOf(operations.createEnvironmentWithoutTemplate);
  requireAuthorRights(context, { ...work.rule.place, projectId, environmentId: null }, rights);
  const made = await createEnvironmentWithoutTemplate(context, environmentBody(work, row));
  await updateFolder(context.db, row, { status: 'MANAGED', reason: null, environment_id: made.id });
  await countScanned(context.db, work.scan.id, 'created');
}

async function remove(context: ActorContext, { scan, row: { on_removal } }: ScanWork, row: FolderRow) {
  if (row.environment_id === null)
    return updateFolder(context.db, row, { status: 'DELETED', reason: 'Its environment was deleted' });
  if (on_removal === 'flag') return updateFolder(context.db, row, { status: 'MISSING' });
  const place = inEnvironment(await requireEnvironment(context, row.environment_id));
  requireAuthorRights(context, place, bulkRights(on_removal));
  if (on_removal === 'archive') await updateEnvironment(context, row.environment_id, { isArchived: true });
  else await destroyEnvironment(context, row.environment_id, {});
  await updateFolder(context.db, row, { status: 'REMOVED' });
  await countScanned(context.db, scan.id, 'removed');
}

/** State of a folder whose environment could not be created or removed. */
function refused(row: FolderRow, error: unknown, context: ActorContext) {
  if (!(error instanceof Refusal))
    context.log.error(
      { err: error, projectId: row.project_id, folder: row.folder },
      'a folder of a scan failed',
    );
  const text =
    error instanceof Refusal
      ? error.message.replace(/^\/body\/\S+ is refused: /, '')
      : 'The service failed; its log says why';
  switch (row.status) {
    case 'PENDING':
      return { status: 'SKIPPED', reason: text } as const;
    case 'CHANGED':
      return { status: 'MANAGED', reason: `The environment could not be changed: ${text}` } as const;
    default:
      return { status: 'MISSING', reason: `${planWords[row.kind].notRemoved}: ${text}` } as const;
  }
}

function act(context: ActorContext, work: ScanWork, row: FolderRow): Promise<void> {
  switch (row.status) {
    case 'PENDING':
      return create(context, work, row);
    case 'CHANGED':
      return changeOfEntry(context, row);
    default:
      return remove(context, work, row);
  }
}

/** @returns false where nothing is left to do, or the scan is out of date */
async function actOnNext(context: ActorContext, work: ScanWork): Promise<boolean> {
  const place = { projectId: work.row.project_id, repository: work.rule.repository };
  let found: FolderRow | undefined;
  try {
    return await inTransaction(context, async (context) => {
      // Holds back changes of the configuration, and newer scans.
      const row = await lockDiscovery(context.db, work.row.project_id, 'share');
      const scan = await getScan(context.db, work.scan.id);
      // Removals that a newer scan has found are left to it: it may have to ask first.
      if (row?.version !== work.scan.version || !scan || scan.finished_at !== null) return false;
      const statuses: FolderStatus[] =
        scan.status === 'WAITING_FOR_USER' ? ['PENDING', 'CHANGED'] : ['PENDING', 'CHANGED', 'REMOVING'];
      found = await lockNextFolder(context.db, place, statuses);
      if (!found) return false;
      await act(context, work, found);
      return true;
    });
  } catch (error) {
    if (!found || whyUnavailable(error) !== null) throw error;
    const folder = found;
    await inTransaction(context, async (context) => {
      await updateFolder(context.db, folder, refused(folder, error, context));
      await countScanned(context.db, work.scan.id, 'failed');
    });
    return true;
  }
}

/**
 * Acts on one folder after the other.
 * @param context of the user who has saved the configuration
 * @returns whether nothing is left to do
 */
export async function actOnFolders(
  context: ActorContext,
  work: ScanWork,
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + workMilliseconds;
  for (;;) {
    if (signal.aborted || performance.now() > until) return false;
    if (!(await actOnNext(context, work))) return true;
  }
}
