/** Loop: records calls without the right in the audit trail, one row a minute for each caller and operation. */
import { storeAudit } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { takeRefusedCalls } from '../http/refused-calls.ts';

export async function auditRefusedCalls(context: Context): Promise<void> {
  for (const refused of takeRefusedCalls(context)) {
    const { userId: actorId, keyId, address, operation, requestId, entity, entityIds, count } = refused;
    const [first, ...others] = entityIds;
    const entry = {
      organizationId: refused.organizationId,
      action: 'call.refused',
      entity: entity ?? 'operation',
      entityId: first ?? operation,
      details: { operation, count, ...(others.length > 0 ? { others } : {}) },
    };
    await storeAudit(context, entry, { actorId, keyId, address, requestId });
  }
}
