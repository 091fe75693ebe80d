/** Tells people of scans that they have to look at. */
import type { Context } from '../../framework/context.ts';
import type { DiscoveryNotice } from '../../framework/reactions.ts';
import { getDiscovery } from '../../rows/discovery/discovery-store.ts';
import { listScans, type ScanRow } from '../../rows/discovery/scan-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';

function noticeOf({ status, error, failed }: ScanRow): Pick<DiscoveryNotice, 'notice' | 'reason'> | null {
  if (status === 'WAITING_FOR_USER') return { notice: 'waitingForUser', reason: error ?? '' };
  if (status === 'FAILURE') return { notice: 'failed', reason: error ?? '' };
  if (status !== 'SUCCESS' || failed === 0) return null;
  const what = failed === 1 ? '1 folder or entry' : `${failed} folders or entries`;
  return {
    notice: 'failed',
    reason: `${what} failed: the environment discovery of the project lists each with the reason`,
  };
}

/** Whether people have heard of it: the scan before failed for the same reason, or as many folders failed. */
async function isRepeated(context: Context, scan: ScanRow): Promise<boolean> {
  if (scan.status === 'WAITING_FOR_USER') return false;
  const scans = await listScans(context.db, scan.project_id);
  const before = scans.slice(scans.findIndex(({ id }) => id === scan.id) + 1);
  const ended = before.find(({ status }) => status === 'SUCCESS' || status === 'FAILURE');
  return ended?.status === scan.status && ended.error === scan.error && ended.failed >= scan.failed;
}

/**
 * Notifies of a scan that failed, whose folders failed, or that waits for a person. Runs in the transaction that stores it.
 * @param scan as it is stored then
 */
export async function noticeScan(context: Context, scan: ScanRow | undefined): Promise<void> {
  const noticed = scan && noticeOf(scan);
  if (!noticed || (await isRepeated(context, scan))) return;
  const row = await getDiscovery(context.db, scan.project_id);
  const template = row && (await getTemplateRow(context.db, row.template_id));
  if (!template) return;
  await context.react('discoveryNoticed', {
    organizationId: template.organization_id,
    projectId: scan.project_id,
    scanId: scan.id,
    repository: template.repository || (row.repository_regex ?? ''),
    ...noticed,
  });
}
