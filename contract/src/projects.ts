/** Projects. */
import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { closed, Flag, Instant, Name, orNull, replyObject, Text, Title } from './schema.ts';
import { User } from './user.ts';

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
