/** Routes without credentials, and what the service stores about requests. */
import { removeBlobs } from '../../framework/effects/remove-blobs.ts';
import type { Family } from '../../framework/family.ts';
import { deleteExpiredKeys } from '../../framework/http/changes/idempotent-requests.ts';
import { openRoutes, systemRoutes } from './system-routes.ts';

export const family: Family = {
  name: 'system',
  routes: systemRoutes,
  plugin: openRoutes,
  loops: [{ name: 'expired idempotency keys', everySeconds: 3600, pass: deleteExpiredKeys }],
  effects: [removeBlobs],
  tables: ['effect', 'idempotency_key', 'installation', 'server_stamp'],
};
