/** Types of columns that are text, numbers or JSON to the database. */
import type { BlobRef } from '../../ground/blobs/blob-store.ts';

export interface Columns {
  'attempt.log_bases': Record<string, number>;
  'attempt.status': 'claimed' | 'ended';
  'attempt_blob.blob': BlobRef;
  'job.phase': 'plan' | 'apply';
  'job.status': 'queued' | 'claimed' | 'done';
}
