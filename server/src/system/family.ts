/** What needs no credentials, and what the service keeps about requests. */
import type { Family } from '../family.ts';
import { forgetOnceKeys } from '../http/only-once.ts';
import { openRoutes, systemRoutes } from './system-routes.ts';

export const family: Family = {
  name: 'system',
  routes: systemRoutes,
  plugin: openRoutes,
  loops: [{ name: 'keys of requests that are sent once', everySeconds: 3600, pass: forgetOnceKeys }],
  tables: ['audit_event', 'idempotency_key', 'installation', 'server_stamp'],
};
