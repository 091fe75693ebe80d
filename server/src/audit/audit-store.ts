/** SQL of the audit trail. */
import type { Insertable } from 'kysely';
import type { Connection } from '../context.ts';
import type { AuditEventTable } from '../database/schema.ts';

export async function insertAuditEvent(tx: Connection, row: Insertable<AuditEventTable>): Promise<void> {
  await tx.insertInto('audit_event').values(row).execute();
}
