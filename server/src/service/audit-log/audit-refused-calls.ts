/** Loop: records calls without the right in the audit trail, one row a minute for each caller and operation. */
import { storeAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { type RefusedCalls, takeRefusedCalls } from '../../framework/http/refused-calls.ts';
import { type Store, storeAll } from './store-later.ts';

const keptOf = perServer((): Store[] => []);

async function storeRefused(context: Context, refused: RefusedCalls): Promise<void> {
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

export async function auditRefusedCalls(context: Context): Promise<void> {
  const fresh = takeRefusedCalls(context).map(
    (refused): Store =>
      (context) =>
        storeRefused(context, refused),
  );
  await storeAll(context, keptOf(context), fresh);
}
