/** Lets open pages show the progress of scans, which the audit trail does not record. */
import type { Context } from '../../framework/context.ts';
import { getDiscovery } from '../../rows/discovery/discovery-store.ts';
import { recordChange } from '../../rows/feeds/organization-news-store.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';

/** Publishes that a scan of a project began, read its folders or ended. Runs in the transaction that stores it. */
export async function publishScan(context: Context, projectId: string): Promise<void> {
  const row = await getDiscovery(context.db, projectId);
  const project = await getProjectRow(context.db, projectId);
  if (!row || !project) return;
  await recordChange(context, {
    organizationId: project.organization_id,
    projectId,
    environmentId: null,
    entity: 'discovery',
    id: row.template_id,
  });
}
