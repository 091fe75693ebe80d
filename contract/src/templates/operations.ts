/** Templates (on the wire: blueprints). */

import { Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, Text } from '../schema/schema.ts';
import { Template } from './shapes.ts';
import { CreateTemplateBody, UpdateTemplateBody } from './template-body.ts';

const thisTemplate = aboutOne('template');

export const operations = defineOperations('templates', {
  listTemplates: operation('GET', '/blueprints', {
    summary: 'List templates',
    description:
      'Newest first, without deleted and single-use ones. With `projectId`: those that environments of this ' +
      'project can be created from.',
    needs: 'VIEW_ORGANIZATION',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_PROJECT', for: '`projectId`, and to see templates created in a project' }],
    subject: [{ entity: 'project', in: 'query', field: 'projectId' }, inOrganization.subject],
    query: Type.Object({
      organizationId: Type.Optional(Text),
      projectId: Type.Optional(Text),
      name: Type.Optional(Type.String({ description: 'The exact name' })),
    }),
    reply: Type.Array(Template),
  }),
  createTemplate: operation('POST', '/blueprints', {
    summary: 'Create template',
    description:
      'Created in the organization, or with `creationScope` PROJECT in the project `creationScopeId`, whose ' +
      'environments may use it at once. Other projects may use it after it was added to them: `projectIds`, or ' +
      '`PATCH /blueprints/{id}/projects`.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    needsAnywhere: true,
    needsToo: [
      { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'the organization, or the project of `creationScopeId`' },
      { right: 'MANAGE_PROJECT_TEMPLATES', for: 'each of `projectIds`' },
    ],
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: CreateTemplateBody,
    reply: Template,
  }),
  getTemplate: operation('GET', '/blueprints/{id}', {
    summary: 'Get template',
    description:
      'Includes deleted templates and single-use templates, which belong to environments created without a ' +
      'template.',
    needs: 'VIEW_ORGANIZATION',
    needsAnywhere: true,
    needsToo: [{ right: 'VIEW_PROJECT', for: 'a template created in a project, and a single-use one' }],
    ...thisTemplate,
    reply: Template,
  }),
  updateTemplate: operation('PUT', '/blueprints/{id}', {
    summary: 'Update template',
    description:
      'Replaces the template: settings that are absent are cleared, except `projectIds`, `creationScope` and ' +
      '`creationScopeId`. Environments use the change from their next deployment on. A single-use template has ' +
      'the source settings of its environment.',
    needs: 'VIEW_ORGANIZATION',
    needsAnywhere: true,
    needsToo: [
      { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'a template' },
      { right: 'EDIT_VCS_ENVIRONMENT', for: 'a single-use template, unless that right is there' },
      { right: 'MANAGE_PROJECT_TEMPLATES', for: 'each project that `projectIds` adds or removes' },
    ],
    ...thisTemplate,
    body: UpdateTemplateBody,
    reply: Template,
  }),
  deleteTemplate: operation('DELETE', '/blueprints/{id}', {
    summary: 'Delete template',
    description:
      'Environments that use it keep working and can be deployed and destroyed; new ones cannot use it. ' +
      'Deleting it again changes nothing. 409 for a single-use template: delete its environment.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    ...thisTemplate,
    reply: Type.Object({ id: Text }),
  }),
  addTemplateToProject: operation('PATCH', '/blueprints/{id}/projects', {
    summary: 'Add template to project',
    description: 'Environments of the project can then be created from it. Adding it again changes nothing.',
    needs: 'MANAGE_PROJECT_TEMPLATES',
    needsAnywhere: true,
    needsToo: [{ right: 'MANAGE_PROJECT_TEMPLATES', for: 'the project of `projectId`' }],
    ...thisTemplate,
    updates: 'getTemplate',
    body: closed({ projectId: Name }),
    reply: Template,
    inInterface: true,
  }),
  removeTemplateFromProject: operation('DELETE', '/blueprints/{id}/projects/{projectId}', {
    summary: 'Remove template from project',
    description:
      'Environments of the project that use it keep working. A template stays usable in the project that it ' +
      'was created in.',
    needs: 'MANAGE_PROJECT_TEMPLATES',
    needsAnywhere: true,
    needsToo: [{ right: 'MANAGE_PROJECT_TEMPLATES', for: 'the project of `projectId`' }],
    subject: thisTemplate.subject,
    updates: 'getTemplate',
    params: Type.Object({ id: Name, projectId: Name }),
    reply: Template,
  }),
});
