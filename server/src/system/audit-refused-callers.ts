/** Loop: records in the audit trail who was refused, a few rows for any number of attempts. */
import { systemUserId } from '../access/actor.ts';
import { insertAuditEvent } from '../audit/audit-store.ts';
import type { Context } from '../context.ts';
import { type RefusedAddress, refusedCallers } from '../http/refused-callers.ts';

export const auditEverySeconds = 60;
/** Rows of one pass; addresses beyond them share the last one. */
const mostRows = 20;

function rowsOf(refused: readonly RefusedAddress[]): { address: string; details: Record<string, unknown> }[] {
  const sorted = refused.toSorted((one, other) => other.failures - one.failures);
  const rows = sorted.slice(0, mostRows - 1).map(({ address, failures, unchecked, keyIds }) => ({
    address,
    details: { failures, unchecked, keyIds: [...keyIds] },
  }));
  const others = sorted.slice(mostRows - 1);
  if (others.length === 0) return rows;
  const sum = (of: 'failures' | 'unchecked') => others.reduce((total, each) => total + each[of], 0);
  const details = { addresses: others.length, failures: sum('failures'), unchecked: sum('unchecked') };
  return [...rows, { address: 'others', details }];
}

export async function auditRefusedCallers(context: Context): Promise<void> {
  const { db, now, newId } = context;
  const requestId = newId();
  for (const { address, details } of rowsOf(refusedCallers(context).takeSummary()))
    await insertAuditEvent(db, {
      at: now(),
      organization_id: null,
      actor_id: systemUserId,
      action: 'credentials.refused',
      entity: 'address',
      entity_id: address,
      request_id: requestId,
      details: JSON.stringify(details),
    });
}
