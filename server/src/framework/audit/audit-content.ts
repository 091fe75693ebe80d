/** Rows of the audit trail as the entries that are hashed and shown. */
import { type AuditContent, contentText } from '#contract/audit/chain.ts';
import type { KeyHash } from '../../ground/secrets/api-key-hash.ts';
import type { AuditRow } from '../../rows/audit/audit-store.ts';

/** The entry of a row. */
export function contentOf(row: AuditRow): AuditContent {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    actorId: row.actor_id,
    keyId: row.key_id,
    ipAddress: row.address,
    actionName: row.action,
    entity: row.entity,
    entityId: row.entity_id,
    requestId: row.request_id,
    timestamp: row.at.toISOString(),
    payload: row.details,
    before: row.before,
    after: row.after,
  };
}

const purpose = 'entry\n';

/** The HMAC of an entry: shows that the service wrote it. */
export function entryMac(mac: KeyHash, row: AuditRow): Buffer {
  return mac.hash(purpose + contentText(contentOf(row)));
}

/** Whether an HMAC belongs to an entry. @param text its canonical text */
export function isEntryMac(mac: KeyHash, text: string, stored: Buffer): boolean {
  return mac.matches(purpose + text, stored);
}
