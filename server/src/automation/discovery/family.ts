/** Environment discovery: the environments of a project, found in the folders of a repository. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { notFound } from '../../ground/errors.ts';
import { lockDiscovery } from '../../rows/discovery/discovery-store.ts';
import { listScans } from '../../rows/discovery/scan-store.ts';
import { deleteDiscovery, requireDiscovery, setDiscovery } from './change-discovery.ts';
import { discoveryView, requireActiveProject } from './configuration.ts';
import { confirmRemoval, resolveRename } from './decide-folders.ts';
import { discoveryState } from './discovery-state.ts';
import { pollRepositories } from './poll.ts';
import { previewDiscovery } from './preview-discovery.ts';
import { scanProject, scanView, startScan } from './start-scan.ts';

const discoveryRoutes: Route[] = [
  route(operations.getDiscovery, async ({ db }, { params }) => {
    const { row, template } = await requireDiscovery(db, params.projectId);
    return discoveryView(db, row, template);
  }),
  route(operations.setDiscovery, (context, { params, body }) =>
    inTransaction(context, (context) => setDiscovery(context, params.projectId, body)),
  ),
  route(operations.deleteDiscovery, (context, { params }) =>
    inTransaction(context, (context) => deleteDiscovery(context, params.projectId)),
  ),
  route(operations.getDiscoveryState, (context, { params }) => discoveryState(context, params.projectId)),
  route(operations.listDiscoveryScans, async ({ db }, { params }) => {
    await requireDiscovery(db, params.projectId);
    return (await listScans(db, params.projectId)).map(scanView);
  }),
  route(operations.startDiscoveryScan, (context, { params }) =>
    inTransaction(context, async (context) => {
      await requireActiveProject(context, params.projectId);
      const row = await lockDiscovery(context.db, params.projectId);
      if (!row) throw notFound('environment discovery of the project', params.projectId);
      return scanView(await startScan(context, row, 'user'));
    }),
  ),
  route(operations.previewDiscovery, (context, { params, body }) =>
    previewDiscovery(context, params.projectId, body),
  ),
  route(operations.confirmDiscoveryRemoval, (context, { params }) =>
    confirmRemoval(context, params.projectId, params.scanId),
  ),
  route(operations.resolveDiscoveryRename, (context, { params, body }) =>
    resolveRename(context, params.projectId, body),
  ),
];

export const family: Family = {
  name: 'discovery',
  routes: discoveryRoutes,
  loops: [{ name: 'polls of environment discovery', everySeconds: 30, pass: pollRepositories }],
  effects: [scanProject],
  tables: ['discovery', 'discovery_scan', 'discovery_folder'],
};
