/** Projects. */
import { type Static, Type } from 'typebox';
import { defineOperations, operation } from '../operation.ts';
import { closed, Name, nullable, orNull, Text, Title } from '../schema/schema.ts';
import { Project } from './shapes.ts';

export const CreateProjectBody = closed({
  organizationId: Name,
  name: Title,
  description: Type.Optional(Text),
  parentProjectId: orNull(Name),
  tags: orNull(Type.Array(Text)),
});
export type CreateProjectBody = Static<typeof CreateProjectBody>;

export const UpdateProjectBody = closed({
  name: Type.Optional(Title),
  description: Type.Optional(Text),
  tags: Type.Optional(nullable(Type.Array(Text, { description: 'Replaces all; null: none' }))),
  isArchived: Type.Optional(
    Type.Boolean({ description: 'true: as deleting it does; false: brings it back' }),
  ),
});
export type UpdateProjectBody = Static<typeof UpdateProjectBody>;

const thisProject = { entity: 'project', in: 'params', field: 'id' } as const;

export const operations = defineOperations('projects', {
  listProjects: operation('GET', '/projects', {
    summary: 'List projects',
    description: 'All that the caller may see, sub-projects and archived ones included, as one flat list.',
    needs: 'signed-in',
    query: Type.Object({ organizationId: Type.Optional(Text) }),
    reply: Type.Array(Project),
  }),
  createProject: operation('POST', '/projects', {
    summary: 'Create project',
    needs: 'CREATE_PROJECT',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: CreateProjectBody,
    reply: Project,
  }),
  getProject: operation('GET', '/projects/{id}', {
    summary: 'Get project',
    needs: 'VIEW_PROJECT',
    subject: { entity: 'project', in: 'params', field: 'id' },
    params: Type.Object({ id: Name }),
    reply: Project,
  }),
  updateProject: operation('PUT', '/projects/{id}', {
    summary: 'Update project',
    description: 'Changes the fields that are sent.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: Type.Object({ id: Name }),
    body: UpdateProjectBody,
    reply: Project,
  }),
  deleteProject: operation('DELETE', '/projects/{id}', {
    summary: 'Archive project',
    description:
      'Archives the project and everything below it; nothing is destroyed and nothing is lost. What is queued is cancelled, destroys excepted; what runs goes on. Its environments accept nothing but a destroy. Deleted twice is deleted once.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: Type.Object({ id: Name }),
    reply: Type.Object({ id: Text }),
  }),
  moveProject: operation('POST', '/projects/{id}/move', {
    summary: 'Move project',
    description: 'Below another project of the organization, or (null) to the top, with everything below it.',
    needs: 'EDIT_PROJECT_SETTINGS',
    subject: thisProject,
    params: Type.Object({ id: Name }),
    body: closed({
      targetProjectId: nullable(Type.String({ minLength: 1, description: 'null: to the top' })),
    }),
    reply: Type.Null(),
  }),
  getTestingProject: operation('GET', '/projects/modules/testing/{organizationId}', {
    summary: 'Get project for tests of modules',
    description:
      'The hidden project of the organization, made when it is asked for the first time; no list shows it.',
    needs: 'VIEW_ORGANIZATION',
    subject: { entity: 'organization', in: 'params', field: 'organizationId' },
    params: Type.Object({ organizationId: Name }),
    reply: Project,
  }),
});
