/** Appends to the audit trail, in the transaction of the change that it records. */
import type { ActorContext } from '../context.ts';
import { afterCommit } from '../database/transaction.ts';
import type { EnvironmentRow } from '../environments/environment-store.ts';
import { insertAuditEvent } from './audit-store.ts';

export interface AuditEntry {
  readonly organizationId: string | null;
  /** What was done, as `deployment.approved`. */
  readonly action: string;
  readonly entity: string;
  readonly entityId: string;
  /** Never a secret. */
  readonly details?: Record<string, unknown>;
}

type AuditContext = Pick<ActorContext, 'db' | 'actor' | 'requestId' | 'now' | 'log'>;

/** Logs the entry as well, once it is stored. */
export async function recordAudit(context: AuditContext, entry: AuditEntry): Promise<void> {
  await insertAuditEvent(context.db, {
    at: context.now(),
    organization_id: entry.organizationId,
    actor_id: context.actor.userId,
    action: entry.action,
    entity: entry.entity,
    entity_id: entry.entityId,
    request_id: context.requestId,
    details: JSON.stringify(entry.details ?? {}),
  });
  const { action, entity, entityId } = entry;
  const { userId, name: userName } = context.actor;
  const fields = { action, entity, entityId, userId, userName, requestId: context.requestId };
  afterCommit(context.db, () => context.log.info(fields, 'audit entry recorded'));
}

/** The entry of what was done to an environment, or to the state that belongs to it. */
export async function recordEnvironmentAudit(
  context: AuditContext,
  { id, organization_id: organizationId }: Pick<EnvironmentRow, 'id' | 'organization_id'>,
  action: string,
  details?: AuditEntry['details'],
): Promise<void> {
  await recordAudit(context, { organizationId, action, entity: 'environment', entityId: id, details });
}
