/** Operations on projects. */
import { operations } from '#contract/operations.ts';
import type { CreateProjectBody, Project } from '#contract/projects.ts';
import { isUuid } from '../access/entity-home.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection, Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField, conflict, notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { getUsers } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { getProjectRow, insertProject, listProjectRows, type ProjectRow } from './project-store.ts';

async function views(db: Connection, context: Pick<ActorContext, 'actor'> & Context, rows: readonly ProjectRow[]): Promise<Project[]> {
  const users = await getUsers(
    db,
    rows.map((row) => row.created_by),
  );
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
    role: context.actor.roles.get(row.organization_id) ?? '',
    createdBy: row.created_by,
    createdByUser: userOf(users, row.created_by),
  }));
}

async function parentOf(tx: Connection, body: CreateProjectBody): Promise<ProjectRow | null> {
  if (!body.parentProjectId) return null;
  const parent = isUuid(body.parentProjectId) ? await getProjectRow(tx, body.parentProjectId) : undefined;
  if (parent?.organization_id !== body.organizationId) throw badField('body.parentProjectId', 'names no project of this organization');
  if (parent.is_archived) throw conflict(`Project "${parent.name}" is archived`);
  return parent;
}

async function createProject(context: ActorContext, body: CreateProjectBody): Promise<Project> {
  return inTransaction(context.db, async (tx) => {
    const parent = await parentOf(tx, body);
    const row = await insertProject(tx, context, {
      organizationId: body.organizationId,
      name: body.name,
      description: body.description ?? '',
      tags: body.tags ?? [],
      parent,
    });
    if (!row) throw conflict(`There is a project named "${body.name}" at this place already: choose another name`);
    await recordAudit(tx, context, {
      organizationId: row.organization_id,
      action: 'project.created',
      entity: 'project',
      entityId: row.id,
      details: { name: row.name },
    });
    return (await views(tx, context, [row]))[0] as Project;
  });
}

export const projectRoutes: Route[] = [
  route(operations.listProjects, async (context, { query }) => {
    const visible = [...context.actor.roles.keys()];
    const { organizationId } = query;
    if (organizationId !== undefined && visible.length > 0 && !visible.includes(organizationId)) {
      throw badField('query.organizationId', 'names no organization that exists and that you may see');
    }
    const ids = organizationId === undefined ? visible : visible.filter((id) => id === organizationId);
    return views(context.db, context, await listProjectRows(context.db, ids));
  }),
  route(operations.createProject, (context, { body }) => createProject(context, body)),
  route(operations.getProject, async (context, { params }) => {
    const row = await getProjectRow(context.db, params.id);
    if (!row) throw notFound('project', params.id);
    return (await views(context.db, context, [row]))[0] as Project;
  }),
];
