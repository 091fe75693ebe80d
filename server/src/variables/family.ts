/** Variables of every scope. */
import type { Family } from '../family.ts';

export const family: Family = {
  name: 'variables',
  tables: ['variable'],
};
