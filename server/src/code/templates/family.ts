/** Templates: which code environments are made from. */
import { operations } from '#contract/operations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inOrganization } from '../../rows/places.ts';
import { listTemplateRows, lockTemplate, templateHome } from '../../rows/templates/template-store.ts';
import { createTemplate } from './create-template.ts';
import { deleteTemplate } from './delete-template.ts';
import { maySee, requireTemplate } from './see-template.ts';
import { addTemplateToProject, removeTemplateFromProject } from './template-projects.ts';
import { templateView, templateViews } from './template-view.ts';
import { updateTemplate } from './update-template.ts';

const templateRoutes: Route[] = [
  route(operations.listTemplates, async (context, { query, home }) => {
    const organizationId = home?.organizationId ?? query.organizationId ?? '';
    const { projectId, name } = query;
    if (projectId)
      requireRight(
        context.actor,
        { ...inOrganization(organizationId), projectId },
        'VIEW_PROJECT',
        '/query/projectId',
      );
    const rows = await listTemplateRows(context.db, {
      organizationId,
      ...(projectId ? { projectId } : {}),
      ...(name === undefined ? {} : { name }),
    });
    return templateViews(
      context.db,
      rows.filter((row) => maySee(context.actor.access, row)),
    );
  }),
  route(operations.createTemplate, (context, { body }) => createTemplate(context, body)),
  route(operations.getTemplate, async (context, { params }) =>
    templateView(context.db, await requireTemplate(context, params.id)),
  ),
  route(operations.updateTemplate, (context, { params, body }) => updateTemplate(context, params.id, body)),
  route(operations.deleteTemplate, (context, { params }) => deleteTemplate(context, params.id)),
  route(operations.addTemplateToProject, (context, { params, body }) =>
    addTemplateToProject(context, params.id, body.projectId),
  ),
  route(operations.removeTemplateFromProject, (context, { params }) =>
    removeTemplateFromProject(context, params.id, params.projectId),
  ),
];

export const family: Family = {
  name: 'templates',
  routes: templateRoutes,
  entities: { template: templateHome },
  locks: { template: lockTemplate },
  tables: ['template'],
};
