/** Routes without credentials, and what the service stores about requests. */
import { removeBlobs } from '../effects/remove-blobs.ts';
import type { Family } from '../family.ts';
import { forgetOnceKeys } from '../http/changes/only-once.ts';
import { auditEverySeconds, auditRefusedCallers } from './audit-refused-callers.ts';
import { auditRefusedCalls } from './audit-refused-calls.ts';
import { openRoutes, systemRoutes } from './system-routes.ts';

export const family: Family = {
  name: 'system',
  routes: systemRoutes,
  plugin: openRoutes,
  loops: [
    { name: 'expired idempotency keys', everySeconds: 3600, pass: forgetOnceKeys },
    { name: 'audit of refused callers', everySeconds: auditEverySeconds, pass: auditRefusedCallers },
    { name: 'audit of refused calls', everySeconds: auditEverySeconds, pass: auditRefusedCalls },
  ],
  effects: [removeBlobs],
  tables: ['audit_event', 'effect', 'idempotency_key', 'installation', 'server_stamp'],
};
