/** SQL of organizations and their members. */
import {
  type Expression,
  type Insertable,
  type RawBuilder,
  type Selectable,
  sql,
  type Updateable,
} from 'kysely';
import { homeById } from '../access/entity-home.ts';
import type { Connection } from '../context.ts';
import type { OrganizationTable } from '../database/schema.ts';

export type OrganizationRow = Selectable<OrganizationTable>;

/** An organization and its first member. */
export async function insertOrganization(
  tx: Connection,
  values: Insertable<OrganizationTable>,
  member: { readonly userId: string; readonly role: string },
): Promise<OrganizationRow> {
  const row = await tx.insertInto('organization').values(values).returningAll().executeTakeFirstOrThrow();
  await tx
    .insertInto('organization_member')
    .values({ organization_id: row.id, user_id: member.userId, role: member.role })
    .execute();
  return row;
}

/** Newest first. */
export async function listOrganizationRows(
  db: Connection,
  ids: readonly string[],
): Promise<OrganizationRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('organization')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

export async function getOrganizationRow(db: Connection, id: string): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organization').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The organization, whose policies nobody else changes until the transaction ends. */
export async function lockOrganizationRow(tx: Connection, id: string): Promise<OrganizationRow | undefined> {
  return tx.selectFrom('organization').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export async function updateOrganizationRow(
  tx: Connection,
  id: string,
  changes: Updateable<OrganizationTable>,
): Promise<OrganizationRow> {
  return tx
    .updateTable('organization')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A user's role in each organization, by the organization's id: a column of a statement about users. */
export function rolesOf(userId: Expression<string>): RawBuilder<Record<string, string>> {
  return sql`(select coalesce(jsonb_object_agg(organization_id, role), '{}')
    from organization_member where user_id = ${userId})`;
}

/** Where an organization lives: in itself. */
export const organizationHome = homeById((db, id) =>
  db.selectFrom('organization').select('id as organization_id').where('id', '=', id).executeTakeFirst(),
);
