/** Loop: records calls without the right in the audit trail, one row a minute for each caller and operation. */
import { insertAuditEvent } from '../audit/audit-store.ts';
import type { Context } from '../context.ts';
import { takeRefusedCalls } from '../http/refused-calls.ts';

export async function auditRefusedCalls(context: Context): Promise<void> {
  for (const { userId, operation, requestId, entity, entityIds, count } of takeRefusedCalls(context)) {
    const [first, ...others] = entityIds;
    await insertAuditEvent(context.db, {
      at: context.now(),
      organization_id: null,
      actor_id: userId,
      action: 'call.refused',
      entity: entity ?? 'operation',
      entity_id: first ?? operation,
      request_id: requestId,
      details: JSON.stringify({ operation, count, ...(others.length > 0 ? { others } : {}) }),
    });
  }
}
