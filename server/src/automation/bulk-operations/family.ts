/** The same operation on several environments. */
import type { Family } from '../../framework/family.ts';
import { bulkOperationHome } from '../../rows/bulk-operations/bulk-store.ts';
import { bulkRoutes } from './bulk-routes.ts';
import { continueBulk } from './carry-out-bulk.ts';
import { forgetBulkOperations } from './forget-bulk-operations.ts';

export const family: Family = {
  name: 'bulk-operations',
  routes: bulkRoutes,
  loops: [{ name: 'removal of old bulk operations', everySeconds: 3600, pass: forgetBulkOperations }],
  effects: [continueBulk],
  entities: { bulkOperation: bulkOperationHome },
  tables: ['bulk_operation', 'bulk_operation_item'],
};
