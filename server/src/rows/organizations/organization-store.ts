/** SQL of organizations and their members. */
import { type Expression, type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Connection } from '../../framework/context.ts';
import { homeById, isUuid, versioned } from '../entity-home.ts';
import { rowById, updateById } from '../row-queries.ts';
import type { OrganizationTable } from '../schema.ts';

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

export const getOrganizationRow = rowById('organization');

/** The organization, whose policies are locked until the transaction ends. */
export async function lockOrganizationRow(tx: Connection, id: string): Promise<OrganizationRow | undefined> {
  return tx.selectFrom('organization').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
}

export const updateOrganizationRow = updateById('organization');

/**
 * Counter of changes to rights in the organizations of a user: a column of a statement about
 * users. What was loaded of a user's rights holds for as long as the text is the same.
 */
export function accessVersionsOf(userId: Expression<string>): RawBuilder<string> {
  return sql`(select coalesce(string_agg(organization.id || ' ' || organization.access_version, ',' order by organization.id), '')
    from organization_member join organization on organization.id = organization_member.organization_id
    where user_id = ${userId} and status = 'Active')`;
}

/**
 * The same as a row for each organization, which is faster: a join for a statement of text, with the columns
 * `organization.id` and `organization.access_version`.
 * @param userId the column of the user
 */
export function joinAccessVersions(userId: string): string {
  return `left join (organization_member join organization on organization.id = organization_member.organization_id)
    on organization_member.user_id = ${userId} and organization_member.status = 'Active'`;
}

/** The organizations that a user belongs to, with its role as a member, oldest membership first. */
export async function membershipsOf(
  db: Connection,
  userId: string,
): Promise<{ organization_id: string; role: string }[]> {
  return db
    .selectFrom('organization_member')
    .select(['organization_id', 'role'])
    .where('user_id', '=', userId)
    .where('status', '=', 'Active')
    .orderBy('created_at')
    .orderBy('organization_id')
    .execute();
}

/** Home of an organization: itself. */
export const organizationHome = versioned(
  homeById((db, id) =>
    db.selectFrom('organization').select('id as organization_id').where('id', '=', id).executeTakeFirst(),
  ),
);

/** The organization with this id, or the only one with this name; undefined where several have the name. */
export async function findOrganization(
  db: Connection,
  idOrName: string,
): Promise<{ id: string; name: string } | undefined> {
  const found = await db
    .selectFrom('organization')
    .select(['id', 'name'])
    .where(isUuid(idOrName) ? 'id' : 'name', '=', idOrName)
    .limit(2)
    .execute();
  return found.length === 1 ? found[0] : undefined;
}
