/** SQL of projects. */
import type { Selectable } from 'kysely';
import type { ActorContext, Connection } from '../context.ts';
import type { ProjectTable } from '../database/schema.ts';

export type ProjectRow = Selectable<ProjectTable>;

export interface NewProject {
  readonly organizationId: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parent: ProjectRow | null;
}

/** @returns the project, or undefined where its parent already has one of that name */
export async function insertProject(tx: Connection, context: ActorContext, project: NewProject): Promise<ProjectRow | undefined> {
  const id = context.newId();
  return tx
    .insertInto('project')
    .values({
      id,
      organization_id: project.organizationId,
      parent_project_id: project.parent?.id ?? null,
      name: project.name,
      description: project.description,
      tags: [...project.tags],
      hierarchy: project.parent ? `${project.parent.hierarchy}|${id}` : id,
      created_by: context.actor.userId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function getProjectRow(db: Connection, id: string): Promise<ProjectRow | undefined> {
  return db.selectFrom('project').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first. */
export async function listProjectRows(db: Connection, organizationIds: readonly string[]): Promise<ProjectRow[]> {
  if (organizationIds.length === 0) return [];
  return db
    .selectFrom('project')
    .selectAll()
    .where('organization_id', 'in', [...organizationIds])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}
