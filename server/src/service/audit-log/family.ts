/** Reading and verifying the audit trail, and the loop that chains its entries. */
import { installationChain } from '#contract/audit/chain.ts';
import { operations } from '#contract/operations.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route, streamRoute } from '../../framework/http/route.ts';
import { Refusal } from '../../ground/errors.ts';
import { isOperator } from '../../rows/users/user-store.ts';
import { auditEverySeconds, auditRefusedCallers } from './audit-refused-callers.ts';
import { auditRefusedCalls } from './audit-refused-calls.ts';
import { exportEvents } from './export-events.ts';
import { linkEntries } from './link-entries.ts';
import { listEvents } from './list-events.ts';
import { verifyTrail } from './verify-trail.ts';

/** @throws Refusal 403 for callers other than the operator */
async function requireOperator({ db, actor }: ActorContext): Promise<void> {
  if (!(await isOperator(db, actor.userId)))
    throw new Refusal(
      'forbidden',
      'Only the operator, who has the first key of the installation, can read its audit trail',
    );
}

const auditRoutes: Route[] = [
  route(operations.listAuditEvents, (context, { home, query: { organizationId, ...query } }) =>
    listEvents(context, home?.organizationId ?? organizationId, query),
  ),
  streamRoute(operations.exportAuditEvents, (context, { home, query: { organizationId, ...query } }, wire) =>
    exportEvents(context, home?.organizationId ?? organizationId, query, wire),
  ),
  route(operations.verifyAudit, (context, { home, query }) =>
    verifyTrail(context, home?.organizationId ?? query.organizationId, query.head),
  ),
  route(operations.listInstallationAuditEvents, async (context, { query }) => {
    await requireOperator(context);
    return listEvents(context, installationChain, query);
  }),
  streamRoute(operations.exportInstallationAuditEvents, async (context, { query }, wire) => {
    await requireOperator(context);
    return exportEvents(context, installationChain, query, wire);
  }),
  route(operations.verifyInstallationAudit, async (context, { query }) => {
    await requireOperator(context);
    return verifyTrail(context, null, query.head);
  }),
];

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
