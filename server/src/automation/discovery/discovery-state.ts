/** Folders that discovery found in a project, as replies show them. */
import type { DiscoveredFolder, DiscoveryState } from '#contract/discovery/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type FolderRow, listFolders } from '../../rows/discovery/folder-store.ts';
import { listScans } from '../../rows/discovery/scan-store.ts';
import { getEnvironmentRows, type NamedEnvironment } from '../../rows/environments/environment-store.ts';
import { requireDiscovery } from './change-discovery.ts';
import { scanView } from './start-scan.ts';

function folderView(row: FolderRow, environment: NamedEnvironment | undefined): DiscoveredFolder {
  const name = environment?.name ?? row.environment_name;
  const projectId = environment?.project_id ?? row.environment_project_id;
  return {
    ...(row.kind === 'entry' ? { repository: row.repository } : {}),
    folder: row.folder,
    file: row.file,
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(environment ? { environmentId: environment.id } : {}),
    ...(name === null ? {} : { environmentName: name }),
    ...(projectId === null ? {} : { environmentProjectId: projectId }),
    ...(row.renamed_from === null ? {} : { renamedFrom: row.renamed_from }),
  };
}

/** @throws Refusal 404 for a project without discovery */
export async function discoveryState(context: ActorContext, projectId: string): Promise<DiscoveryState> {
  const { row, template } = await requireDiscovery(context.db, projectId);
  const [folders, [lastScan]] = await Promise.all([
    listFolders(context.db, { projectId, repository: template.repository }),
    listScans(context.db, projectId, 1),
  ]);
  const ids = folders.flatMap(({ environment_id: id }) => id ?? []);
  const environments = new Map((await getEnvironmentRows(context.db, ids)).map((each) => [each.id, each]));
  return {
    ...(lastScan ? { lastScan: scanView(lastScan) } : {}),
    nextPollAt: row.next_poll_at.toISOString(),
    passedOverCount: lastScan?.passed_over_count ?? 0,
    folders: folders.map((each) => folderView(each, environments.get(each.environment_id ?? ''))),
  };
}
