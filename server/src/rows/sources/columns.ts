/** Types of columns that are text, numbers or JSON to the database. */
import type { BlobRef } from '../../ground/blobs/blob-store.ts';

export interface Columns {
  'source_archive.blob': BlobRef;
}
