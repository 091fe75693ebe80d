/** SQL of the audit trail. */

import { type Selectable } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { statement } from '../../ground/database/prepared.ts';
import { type AuditEventTable } from '../schema.ts';

/** As text: every change writes an entry, and building the statement would take longer than its HMAC. */
const insertEvent = statement<never>(`
  insert into audit_event (id, at, organization_id, project_id, actor_id, key_id, address, action, entity, entity_id,
    request_id, details, before, after, mac)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13::jsonb, $14::jsonb, $15)`);

/** @param mac HMAC of the entry */
export async function insertAuditEvent(tx: Connection, row: AuditRow, mac: Buffer): Promise<void> {
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  await insertEvent(
    tx,
    ...[row.id, row.at, row.organization_id, row.project_id, row.actor_id, row.key_id, row.address],
    ...[row.action, row.entity, row.entity_id, row.request_id],
    ...[json(row.details), json(row.before), json(row.after), mac],
  );
}

export type AuditRow = Omit<Selectable<AuditEventTable>, 'number' | 'mac'>;
