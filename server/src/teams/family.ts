/** Teams of people and keys. */
import type { Family } from '../family.ts';

export const family: Family = {
  name: 'teams',
  tables: ['team', 'team_member'],
};
