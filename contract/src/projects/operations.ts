/** Projects. */
import { type Static, Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, nullable, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { Project } from './shapes.ts';

export const CreateProjectBody = closed({
  organizationId: Name,
  name: Title,
  description: Type.Optional(Prose),
  parentProjectId: orNull(Name),
  tags: orNull(Type.Array(Text)),
});
export type CreateProjectBody = Static<typeof CreateProjectBody>;

export const UpdateProjectBody = closed({
  name: Type.Optional(Title),
  description: Type.Optional(clearable(Prose, '')),
  tags: Type.Optional(nullable(Type.Array(Text, { description: 'Replaces all tags; null: no tags' }))),
  isArchived: Type.Optional(
    clearable(Type.Boolean({ description: 'true: archives it, like deleting; false: restores it' }), false),
  ),
});
export type UpdateProjectBody = Static<typeof UpdateProjectBody>;

export const operations = defineOperations('projects', {
  listProjects: operation('GET', '/projects', {
    summary: 'List projects',
    description:
      'All projects that the caller may see, including sub-projects and archived ones, as one flat ' +
      'list.',
    needs: 'signed-in',
    query: Type.Object({
      organizationId: Type.Optional(Text),
      isArchived: Type.Optional(
        Type.Boolean({ description: 'true: only archived projects; false: only others. Default: both' }),
      ),
    }),
    reply: Type.Array(Project),
  }),
  createProject: operation('POST', '/projects', {
    summary: 'Create project',
    description: 'Below another project, the right is needed there.',
    needs: 'CREATE_PROJECT',
    subject: [
      { entity: 'project', in: 'body', field: 'parentProjectId' },
      { entity: 'organization', in: 'body', field: 'organizationId' },
    ],
    body: CreateProjectBody,
    reply: Project,
  }),
  getProject: operation('GET', '/projects/{id}', {
    summary: 'Get project',
    needs: 'VIEW_PROJECT',
    ...aboutOne('project'),
    reply: Project,
  }),
  updateProject: operation('PUT', '/projects/{id}', {
    summary: 'Update project',
    description: 'Omitted fields are unchanged.',
    needs: 'EDIT_PROJECT_SETTINGS',
    ...aboutOne('project'),
    body: UpdateProjectBody,
    reply: Project,
  }),
  deleteProject: operation('DELETE', '/projects/{id}', {
    summary: 'Archive project',
    description:
      'Archives the project and everything below it; nothing is destroyed or lost. Queued deployments ' +
      'are cancelled, except destroys; running deployments continue. Its environments accept only ' +
      'destroys. Repeating the request has no further effect.',
    needs: 'EDIT_PROJECT_SETTINGS',
    ...aboutOne('project'),
    reply: Type.Object({ id: Text }),
  }),
  moveProject: operation('POST', '/projects/{id}/move', {
    summary: 'Move project',
    description:
      'Moves the project with everything below it to another project of the organization or (null) to ' +
      'the top level.',
    needs: 'EDIT_PROJECT_SETTINGS',
    needsToo: [
      { right: 'CREATE_PROJECT', for: 'a `targetProjectId`, there' },
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: 'a `targetProjectId`, there, and, wherever it goes, in every project that it leaves',
      },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'approvals that the organization demands, if they are lifted where it goes',
      },
    ],
    updates: 'getProject',
    ...aboutOne('project'),
    body: closed({
      targetProjectId: nullable(Type.String({ minLength: 1, description: 'null: the top level' })),
    }),
    reply: Type.Null(),
  }),
  getTestingProject: operation('GET', '/projects/modules/testing/{organizationId}', {
    summary: 'Get project for tests of modules',
    description:
      'The hidden project of the organization, created on the first request; it does not appear in ' +
      'lists.',
    needs: 'VIEW_ORGANIZATION',
    subject: { entity: 'organization', in: 'params', field: 'organizationId' },
    params: Type.Object({ organizationId: Name }),
    reply: Project,
  }),
});
