/** Appends to the audit trail, in the transaction of the change that it speaks of. */
import type { ActorContext } from '../context.ts';

export interface AuditEntry {
  readonly organizationId: string | null;
  /** What was done, as `deployment.approved`. */
  readonly action: string;
  readonly entity: string;
  readonly entityId: string;
  /** Never a secret. */
  readonly details?: Record<string, unknown>;
}

/** @param tx the transaction of the change */
export async function recordAudit(
  context: Pick<ActorContext, 'db' | 'actor' | 'requestId' | 'now'>,
  entry: AuditEntry,
): Promise<void> {
  await context.db
    .insertInto('audit_event')
    .values({
      at: context.now(),
      organization_id: entry.organizationId,
      actor_id: context.actor.userId,
      action: entry.action,
      entity: entry.entity,
      entity_id: entry.entityId,
      request_id: context.requestId,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute();
}
