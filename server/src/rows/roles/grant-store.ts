/** SQL of the roles of single users in projects. */
import type { Connection } from '../../framework/context.ts';

export interface GrantedRole {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly projectId: string;
  readonly role: string;
  /** Of a custom role; null: the role is built in. */
  readonly roleId: string | null;
  readonly createdBy: string;
}

/** A role in a project, which replaces the one that the user had there. */
export async function putProjectRole(tx: Connection, granted: GrantedRole): Promise<void> {
  await tx
    .insertInto('role_assignment')
    .values({
      id: granted.id,
      organization_id: granted.organizationId,
      user_id: granted.userId,
      project_id: granted.projectId,
      role: granted.role,
      role_id: granted.roleId,
      created_by: granted.createdBy,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'project_id'])
        .where('user_id', 'is not', null)
        .where('project_id', 'is not', null)
        .doUpdateSet({ role: granted.role, role_id: granted.roleId }),
    )
    .execute();
}

/** Takes all roles in projects and environments of an organization from a user. */
export async function deleteRolesOf(tx: Connection, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('role_assignment')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

/** A custom role by its name; undefined where the organization has no such role. */
export async function findRoleNamed(
  db: Connection,
  organizationId: string,
  name: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('role')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.id;
}
