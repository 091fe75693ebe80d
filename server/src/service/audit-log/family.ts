/** Reading and verifying the audit trail, and the loop that chains its entries. */
import type { Family } from '../../framework/family.ts';
import { auditEverySeconds, auditRefusedCallers } from './audit-refused-callers.ts';
import { auditRefusedCalls } from './audit-refused-calls.ts';
import { auditRoutes } from './audit-routes.ts';
import { linkEntries } from './link-entries.ts';

const linkEverySeconds = 1;

export const family: Family = {
  name: 'audit-log',
  routes: auditRoutes,
  loops: [
    { name: 'audit of refused callers', everySeconds: auditEverySeconds, pass: auditRefusedCallers },
    { name: 'audit of refused calls', everySeconds: auditEverySeconds, pass: auditRefusedCalls },
    {
      name: 'chain of the audit trail',
      everySeconds: linkEverySeconds,
      pass: (context) => linkEntries(context),
    },
  ],
  tables: ['audit_event', 'audit_head', 'audit_link'],
};
