/** Operations on templates. */
import { operations } from '#contract/operations.ts';
import type { Template } from '#contract/templates/shapes.ts';
import type { Context } from '../context.ts';
import { notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { getUsers } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import { getTemplateRow, type TemplateRow } from './template-store.ts';

/**
 * Settings are returned as they were sent, without defaults, because clients compare what they read with what
 * they sent.
 */
async function templateView(context: Context, row: TemplateRow): Promise<Template> {
  const users = await getUsers(context.db, [row.author_id]);
  const { retry, creationScope, creationScopeId, ...settings } = row.settings;
  return {
    ...settings,
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    type: row.type,
    repository: row.repository,
    organizationId: row.organization_id,
    creationScope: creationScope ?? 'PROJECT',
    creationScopeId: creationScopeId ?? row.project_id ?? row.organization_id,
    retry: retry ?? {},
    ...(row.project_id ? { projectId: row.project_id } : {}),
    projectIds: row.project_ids,
    author: userOf(users, row.author_id),
    authorId: row.author_id,
    isDeleted: row.is_deleted,
    isSingleUse: row.is_single_use,
  };
}

export const templateRoutes: Route[] = [
  route(operations.getTemplate, async (context, { params }) => {
    const row = await getTemplateRow(context.db, params.id);
    if (!row) throw notFound('template', params.id);
    return templateView(context, row);
  }),
];
