/** Projects that may use a template. */
import type { Template } from '#contract/templates/shapes.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { inProject } from '../../rows/places.ts';
import { holdProjectRow, type ProjectRow } from '../../rows/projects/project-store.ts';
import { lockTemplate, setTemplateProjects, type TemplateRow } from '../../rows/templates/template-store.ts';
import { checkCredentials } from './check-credentials.ts';
import { requireSight } from './see-template.ts';
import { isCreatable, kindOf } from './template-kinds.ts';
import { templateView } from './template-view.ts';

/** @throws Refusal 404, or 403 where the caller may not see it */
async function lockVisible(context: ActorContext, id: string): Promise<TemplateRow> {
  const locked = orNotFound(await lockTemplate(context.db, id), 'template', id);
  requireSight(context, locked.row);
  return locked.row;
}

/** A project of the template's organization; undefined where there is none. */
async function projectFor(
  context: ActorContext,
  template: TemplateRow,
  projectId: string,
): Promise<ProjectRow | undefined> {
  const row = await holdProjectRow(context.db, projectId);
  return row?.organization_id === template.organization_id ? row : undefined;
}

async function store(
  context: ActorContext,
  template: TemplateRow,
  project: ProjectRow,
  projectIds: readonly string[],
): Promise<Template> {
  const updated = await setTemplateProjects(context.db, template, projectIds, context.now());
  await recordAudit(context, {
    organizationId: template.organization_id,
    projectId: project.id,
    action: projectIds.includes(project.id) ? 'template.assigned' : 'template.unassigned',
    entityId: template.id,
    details: { name: template.name },
    ...changesOf({ projectIds: template.project_ids }, { projectIds }),
  });
  return templateView(context.db, updated);
}

/** @throws Refusal 400, 403, 404, or 409 for a template that is deleted or belongs to a single environment */
export async function addTemplateToProject(
  context: ActorContext,
  id: string,
  projectId: string,
): Promise<Template> {
  return inTransaction(context, async (context) => {
    const template = await lockVisible(context, id);
    const project = await projectFor(context, template, projectId);
    if (!project) throw badField('body.projectId', 'does not match any project that you have access to');
    requireRight(context.actor, inProject(project), 'MANAGE_PROJECT_TEMPLATES', '/body/projectId');
    if (template.project_ids.includes(project.id)) return templateView(context.db, template);
    if (!isCreatable(template.type))
      throw conflict(
        `"${template.name}" is ${kindOf(template.type).one}, from which environments are not created: assign it with its own operations`,
      );
    if (template.is_single_use)
      throw conflict(
        `Template "${template.name}" belongs to a single environment: create a template instead`,
      );
    if (template.is_deleted) throw conflict(`Template "${template.name}" was deleted: use another one`);
    if (project.is_archived) throw conflict(`Project "${project.name}" is archived: restore it first`);
    const { organization_id: organizationId, repository, settings } = template;
    await checkCredentials(
      context,
      { organizationId, projectIds: [project.id] },
      { ...settings, repository },
      'body.projectId',
    );
    return store(context, template, project, [...template.project_ids, project.id]);
  });
}

/** Environments of the project keep working. @throws Refusal 403, 404, or 409 for the template of one environment */
export async function removeTemplateFromProject(
  context: ActorContext,
  id: string,
  projectId: string,
): Promise<Template> {
  return inTransaction(context, async (context) => {
    const template = await lockVisible(context, id);
    const project = orNotFound(await projectFor(context, template, projectId), 'project', projectId);
    requireRight(context.actor, inProject(project), 'MANAGE_PROJECT_TEMPLATES', 'This project');
    if (template.is_single_use)
      throw conflict(`Template "${template.name}" belongs to a single environment, which needs it`);
    if (!template.project_ids.includes(project.id)) return templateView(context.db, template);
    const rest = template.project_ids.filter((each) => each !== project.id);
    return store(context, template, project, rest);
  });
}
