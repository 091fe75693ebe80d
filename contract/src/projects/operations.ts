/** Projects. */
import { type Static, Type } from 'typebox';
import { operation } from '../operation.ts';
import { closed, Flag, Instant, Name, nullable, orNull, replyObject, Text, Title } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const Project = replyObject('Project', {
  id: Text,
  createdAt: Instant,
  updatedAt: Instant,
  organizationId: Text,
  name: Text,
  description: Text,
  parentProjectId: Type.Optional(Text),
  hierarchy: Type.String({ description: 'Ids from the root down to the project itself, joined with |' }),
  isArchived: Flag,
  tags: Type.Array(Text),
  role: Type.Optional(Type.String({ description: 'The role of the caller' })),
  createdBy: Text,
  createdByUser: Type.Optional(User),
});
export type Project = Static<typeof Project>;

export const CreateProjectBody = closed({
  organizationId: Name,
  name: Title,
  description: Type.Optional(Text),
  parentProjectId: orNull(Name),
  tags: orNull(Type.Array(Text)),
});
export type CreateProjectBody = Static<typeof CreateProjectBody>;

const family = 'projects';

export const listProjects = operation('listProjects', {
  family,
  summary: 'List projects',
  description: 'All that the caller may see, sub-projects and archived ones included, as one flat list.',
  needs: 'signed-in',
  query: Type.Object({ organizationId: Type.Optional(Text) }),
  reply: Type.Array(Project),
});

export const createProject = operation('createProject', {
  family,
  summary: 'Create project',
  needs: 'CREATE_PROJECT',
  subject: { entity: 'organization', in: 'body', field: 'organizationId' },
  body: CreateProjectBody,
  reply: Project,
});

export const getProject = operation('getProject', {
  family,
  summary: 'Get project',
  needs: 'VIEW_PROJECT',
  subject: { entity: 'project', in: 'params', field: 'id' },
  params: Type.Object({ id: Name }),
  reply: Project,
});

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

export const updateProject = operation('updateProject', {
  family,
  summary: 'Update project',
  description: 'Changes the fields that are sent.',
  needs: 'EDIT_PROJECT_SETTINGS',
  subject: thisProject,
  params: Type.Object({ id: Name }),
  body: UpdateProjectBody,
  reply: Project,
});

export const deleteProject = operation('deleteProject', {
  family,
  summary: 'Archive project',
  description:
    'Archives the project and everything below it; nothing is destroyed and nothing is lost. What is queued is cancelled, destroys excepted; what runs goes on. Its environments accept nothing but a destroy. Deleted twice is deleted once.',
  needs: 'EDIT_PROJECT_SETTINGS',
  subject: thisProject,
  params: Type.Object({ id: Name }),
  reply: Type.Object({ id: Text }),
});

export const moveProject = operation('moveProject', {
  family,
  summary: 'Move project',
  description: 'Below another project of the organization, or (null) to the top, with everything below it.',
  needs: 'EDIT_PROJECT_SETTINGS',
  subject: thisProject,
  params: Type.Object({ id: Name }),
  body: closed({ targetProjectId: nullable(Type.String({ minLength: 1, description: 'null: to the top' })) }),
  reply: Type.Null(),
});

export const getTestingProject = operation('getTestingProject', {
  family,
  summary: 'Get project for tests of modules',
  description:
    'The hidden project of the organization, made when it is asked for the first time; no list shows it.',
  needs: 'VIEW_ORGANIZATION',
  subject: { entity: 'organization', in: 'params', field: 'organizationId' },
  params: Type.Object({ organizationId: Name }),
  reply: Project,
});
