/** What needs no credentials, and what the service keeps about requests. */
import { removeBlobs } from '../effects/remove-blobs.ts';
import type { Family } from '../family.ts';
import { forgetOnceKeys } from '../http/only-once.ts';
import { openRoutes, systemRoutes } from './system-routes.ts';

export const family: Family = {
  name: 'system',
  routes: systemRoutes,
  plugin: openRoutes,
  loops: [{ name: 'keys of requests that are sent once', everySeconds: 3600, pass: forgetOnceKeys }],
  effects: [removeBlobs],
  tables: ['audit_event', 'effect', 'idempotency_key', 'installation', 'server_stamp'],
};
