/** Code that people upload for remote plans. */
import type { Family } from '../family.ts';
import { expireSources } from './upload-source.ts';

export const family: Family = {
  name: 'sources',
  loops: [{ name: 'uploaded code that has expired', everySeconds: 600, pass: expireSources }],
  tables: ['source_archive'],
};
