/** Types of columns that are text to the database. */
import type { BulkItemStatus, BulkKind } from '#contract/bulk-operations/shapes.ts';

export interface Columns {
  'bulk_operation.kind': BulkKind;
  'bulk_operation_item.status': BulkItemStatus;
}
