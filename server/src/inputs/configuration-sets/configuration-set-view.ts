/** Configuration sets as the interface answers them. */
import type { ConfigurationSet } from '#contract/configuration-sets/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import type { AssignedSetRow, SetRow } from '../../rows/configuration-sets/configuration-set-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

/** Views of several sets, in their order: where they are assigned, or else where they were created. */
export async function setViews(
  db: Connection,
  rows: readonly (SetRow | AssignedSetRow)[],
): Promise<ConfigurationSet[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => {
    const creationScope = row.project_id === null ? 'organization' : 'project';
    const creationScopeId = row.project_id ?? row.organization_id;
    return {
      id: row.id,
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
      name: row.name,
      description: row.description,
      creationScope,
      creationScopeId,
      assignmentScope: 'scope' in row ? row.scope : creationScope,
      assignmentScopeId: 'scope' in row ? row.scope_id : creationScopeId,
      organizationId: row.organization_id,
      createdBy: row.created_by,
      createdByUser: userOf(users, row.created_by),
      ...(row.deleted_at === null ? {} : { isDeleted: true }),
    };
  });
}

export async function setView(db: Connection, row: SetRow): Promise<ConfigurationSet> {
  const [only] = await setViews(db, [row]);
  return only as ConfigurationSet;
}
