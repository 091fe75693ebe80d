/** Steps of deployments and their logs. */
import type { Family } from '../../framework/family.ts';

export const family: Family = {
  name: 'logs',
  tables: ['deployment_step', 'log_chunk'],
};
