/** Projects as the interface answers them. */

import type { Project } from '#contract/projects/shapes.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inProject } from '../../rows/places.ts';
import type { ProjectRow } from '../../rows/projects/project-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../users/user-view.ts';

/** Views of several projects, in their order. */
export async function projectViews(
  context: Pick<ActorContext, 'db' | 'actor'>,
  rows: readonly ProjectRow[],
): Promise<Project[]> {
  const users = await creatorsOf(context.db, rows);
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    organizationId: row.organization_id,
    name: row.name,
    description: row.description,
    ...(row.parent_project_id ? { parentProjectId: row.parent_project_id } : {}),
    hierarchy: row.hierarchy,
    isArchived: row.is_archived,
    tags: row.tags,
    role: context.actor.access.roleIn(inProject(row)),
    createdBy: row.created_by,
    createdByUser: userOf(users, row.created_by),
  }));
}

export async function projectView(
  context: Pick<ActorContext, 'db' | 'actor'>,
  row: ProjectRow,
): Promise<Project> {
  const [only] = await projectViews(context, [row]);
  return only as Project;
}

/** For the audit trail. */
export function auditedProject(row: ProjectRow) {
  const { name, description, tags, is_archived: isArchived, parent_project_id: parentProjectId } = row;
  return { name, description, tags, isArchived, parentProjectId };
}
