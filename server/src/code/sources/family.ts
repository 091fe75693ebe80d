/** Code that people upload for remote plans. */
import type { Family } from '../../framework/family.ts';
import { expireSource } from './expire-source.ts';

export const family: Family = {
  name: 'sources',
  effects: [expireSource],
  tables: ['source_archive'],
};
