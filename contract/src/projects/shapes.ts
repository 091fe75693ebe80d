/** Shapes of replies about projects. */
import { type Static, Type } from 'typebox';
import { clearable } from '../schema/empty-fields.ts';
import { Flag, Instant, Name, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const Project = replyObject('Project', {
  id: Text,
  createdAt: Instant,
  updatedAt: Instant,
  organizationId: Text,
  name: Text,
  description: Text,
  parentProjectId: Type.Optional(Text),
  hierarchy: Type.String({ description: 'Ids from the root down to the project itself, separated by |' }),
  isArchived: Flag,
  tags: Type.Array(Text),
  role: Type.Optional(Type.String({ description: 'The role of the caller' })),
  createdBy: Text,
  createdByUser: Type.Optional(User),
});
export type Project = Static<typeof Project>;

/** Projects that a request lists. */
export const listedProjects = { maxItems: 1000 } as const;

/** Projects that may use a credential of the organization. */
export const CredentialProjects = Type.Optional(
  clearable(
    Type.Array(Name, {
      ...listedProjects,
      description: 'Projects, with everything below them, whose environments may use it; empty: all projects',
    }),
    [],
  ),
);
