/** The template that an environment is created from, or switches to. */
import { isRunnable, runnableTools } from '#protocol/tools/index.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField, pointerTo, unknownEntity } from '../../ground/errors.ts';
import type { ProjectPlace } from '../../rows/projects/project-store.ts';
import { holdTemplateRow, type TemplateRow } from '../../rows/templates/template-store.ts';
import { toolOf } from './environment-template.ts';
import { requireSight } from './see-template.ts';

/** Whether environments of a project can be created from a template. */
export function isAssigned(
  row: Pick<TemplateRow, 'project_id' | 'project_ids'>,
  projectId: string | null,
): boolean {
  return projectId !== null && (row.project_id === projectId || row.project_ids.includes(projectId));
}

/**
 * The template, locked until the transaction ends.
 * @param place of the environment
 * @param field of the request that names it, as `body.blueprintId`
 * @throws Refusal 400 for a template that there is not, or that environments there cannot use, 403 for one that the
 * caller may not see
 */
export async function requireUsableTemplate(
  context: ActorContext,
  { organizationId, projectId }: ProjectPlace,
  id: string,
  field: string,
): Promise<TemplateRow> {
  const row = await holdTemplateRow(context.db, id);
  if (row?.organization_id !== organizationId || row.is_single_use) throw unknownEntity(field, 'template');
  if (!isAssigned(row, projectId)) requireSight(context, row, pointerTo(field));
  if (row.is_deleted) throw badField(field, `refers to "${row.name}", which was deleted`);
  if (toolOf(row) === null && row.type !== 'workflow')
    throw badField(field, `refers to "${row.name}" of type ${row.type}, which environments cannot use`);
  if (!isRunnable(row.type))
    throw badField(
      field,
      `refers to "${row.name}" of type ${row.type}, which cannot be run by this version: it runs ${runnableTools.join(', ')}`,
    );
  if (!isAssigned(row, projectId))
    throw badField(
      field,
      `refers to "${row.name}", which is not assigned to the project: add it first (PATCH /blueprints/${row.id}/projects)`,
    );
  return row;
}
