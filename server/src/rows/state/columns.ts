/** Types of columns that are text, numbers or JSON to the database. */
import type { StateVersion } from '#contract/state/shapes.ts';
import type { BlobRef } from '../../ground/blobs/blob-store.ts';

export interface Columns {
  'state_lock.info': Record<string, unknown>;
  'state_version.blob': BlobRef;
  'state_version.origin': StateVersion['origin'];
  'state_version.standing': StateVersion['standing'];
}
