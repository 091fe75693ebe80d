/** Templates as the interface answers them. */
import type { Template } from '#contract/templates/shapes.ts';
import { sealedFingerprint } from '../../framework/audit/changes.ts';
import type { Connection, Context } from '../../framework/context.ts';
import { inOrganization, type Place } from '../../rows/places.ts';
import { openCredentials, type TemplateRow } from '../../rows/templates/template-store.ts';
import { getUsers } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

/**
 * Settings are returned as they were sent, without defaults, because clients compare what they read with what
 * they sent.
 */
export async function templateViews(db: Connection, rows: readonly TemplateRow[]): Promise<Template[]> {
  const users = await getUsers(
    db,
    rows.map((row) => row.author_id),
  );
  return rows.map((row) => {
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
      creationScope: creationScope ?? (row.project_id === null ? 'ORGANIZATION' : 'PROJECT'),
      creationScopeId: creationScopeId ?? row.project_id ?? row.organization_id,
      retry: retry ?? {},
      ...(row.project_id === null ? {} : { projectId: row.project_id }),
      projectIds: row.project_ids,
      author: userOf(users, row.author_id),
      authorId: row.author_id,
      isDeleted: row.is_deleted,
      isSingleUse: row.is_single_use,
    };
  });
}

export async function templateView(db: Connection, row: TemplateRow): Promise<Template> {
  const [view] = await templateViews(db, [row]);
  return view as Template;
}

/** Scope in which a template was created: the rights to change it are checked there. */
export function placeOfTemplate(row: Pick<TemplateRow, 'organization_id' | 'project_id'>): Place {
  return { ...inOrganization(row.organization_id), projectId: row.project_id };
}

/** For the audit trail. */
export function auditedTemplate(context: Context, row: TemplateRow) {
  const place = `template of ${row.organization_id}`;
  return {
    name: row.name,
    type: row.type,
    repository: row.repository,
    projectIds: row.project_ids,
    ...row.settings,
    credentials: sealedFingerprint(context, place, () => {
      const own = openCredentials(context, row);
      return own && `${own.username}:${own.password}`;
    }),
  };
}
