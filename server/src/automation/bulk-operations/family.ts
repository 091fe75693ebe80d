/** The same operation on several environments: the operations, and the loop that removes old results. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { orNotFound } from '../../ground/errors.ts';
import { bulkOperationHome, getBulkRow } from '../../rows/bulk-operations/bulk-store.ts';
import { bulkView } from './bulk-view.ts';
import { continueBulk } from './carry-out-bulk.ts';
import { forgetBulkOperations } from './forget-bulk-operations.ts';
import { startBulkOperation } from './start-bulk-operation.ts';

/** Bulk operations, each with its verb. */
const bulkRoutes: Route[] = [
  route(operations.bulkDeploy, (context, { body }) => startBulkOperation(context, 'deploy', body)),
  route(operations.bulkDestroy, (context, { body }) => startBulkOperation(context, 'destroy', body)),
  route(operations.bulkRunTask, (context, { body }) => startBulkOperation(context, 'run-task', body)),
  route(operations.bulkApprove, (context, { body }) => startBulkOperation(context, 'approve', body)),
  route(operations.bulkCancel, (context, { body }) => startBulkOperation(context, 'cancel', body)),
  route(operations.bulkCancelQueued, (context, { body }) =>
    startBulkOperation(context, 'cancel-queued-deployments', body),
  ),
  route(operations.bulkLock, (context, { body }) => startBulkOperation(context, 'lock', body)),
  route(operations.bulkUnlock, (context, { body }) => startBulkOperation(context, 'unlock', body)),
  route(operations.bulkArchive, (context, { body }) => startBulkOperation(context, 'archive', body)),
  route(operations.getBulkOperation, async (context, { params: { id } }) =>
    bulkView(context, orNotFound(await getBulkRow(context.db, id), 'bulk operation', id)),
  ),
];

export const family: Family = {
  name: 'bulk-operations',
  routes: bulkRoutes,
  loops: [{ name: 'removal of old bulk operations', everySeconds: 3600, pass: forgetBulkOperations }],
  effects: [continueBulk],
  entities: { bulkOperation: bulkOperationHome },
  tables: ['bulk_operation', 'bulk_operation_item'],
};
