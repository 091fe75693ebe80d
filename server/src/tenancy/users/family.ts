/** People, and the keys that act as users. */
import type { Family } from '../../framework/family.ts';

export const family: Family = {
  name: 'users',
  tables: ['app_user', 'api_key'],
};
