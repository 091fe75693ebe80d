/** Visibility of templates. */
import type { Access } from '../../framework/access/access.ts';
import { MissingRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import { orNotFound } from '../../ground/errors.ts';
import { getTemplateRow, type TemplateRow } from '../../rows/templates/template-store.ts';
import { placeOfTemplate } from './template-view.ts';

/**
 * Members of an organization see its templates; those created in a project, and single-use ones, are for people who
 * see one of their projects. The caller is a member.
 */
export function maySee(access: Access, row: TemplateRow): boolean {
  if (row.project_id === null) return true;
  return [row.project_id, ...row.project_ids].some((projectId) =>
    access.has('VIEW_PROJECT', { ...placeOfTemplate(row), projectId }),
  );
}

/**
 * @param why what names the template
 * @throws Refusal 403 for a template that the caller may not see
 */
export function requireSight(context: ActorContext, row: TemplateRow, why = 'This template'): void {
  if (!maySee(context.actor.access, row))
    throw new MissingRight(`${why} needs the right VIEW_PROJECT`, placeOfTemplate(row));
}

/** @throws Refusal 404 where there is none, 403 where the caller may not see it */
export async function requireTemplate(context: ActorContext, id: string): Promise<TemplateRow> {
  const row = orNotFound(await getTemplateRow(context.db, id), 'template', id);
  requireSight(context, row);
  return row;
}
