/** Shapes of replies about configuration sets. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

/** Scopes in which a set can be created. */
export const setCreationScopes = ['organization', 'project'] as const;
export type SetCreationScope = (typeof setCreationScopes)[number];

/** Scopes to which a set can be assigned. A deployment keeps the sets that it was started with. */
export const setAssignmentScopes = [
  'organization',
  'project',
  'template',
  'module',
  'environment',
  'deployment',
] as const;
export type SetAssignmentScope = (typeof setAssignmentScopes)[number];

const fields = {
  id: Text,
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  name: Text,
  description: Type.Optional(Text),
  creationScope: oneOf(setCreationScopes),
  creationScopeId: Text,
  assignmentScope: Type.Optional(
    oneOf(
      setAssignmentScopes,
      'Where it is assigned, in lists of assignments; elsewhere where it was created',
    ),
  ),
  assignmentScopeId: Type.String({ description: 'Id of that' }),
  organizationId: Text,
  createdBy: Text,
  createdByUser: Type.Optional(User),
  toDelete: Type.Optional(Flag),
  isDeleted: Type.Optional(
    Type.Boolean({ description: 'True for a set that was deleted after a deployment had run with it' }),
  ),
};

export const ConfigurationSet = replyObject('ConfigurationSet', fields);
export type ConfigurationSet = Static<typeof ConfigurationSet>;

/** A place that a set is assigned to. */
export const SetPlace = replyObject('SetPlace', {
  scope: oneOf(setAssignmentScopes),
  scopeId: Text,
  name: Text,
  projectId: Type.Optional(Type.String({ description: 'The project of an environment or a template' })),
});
export type SetPlace = Static<typeof SetPlace>;

export const ConfigurationSetDetails = replyObject('ConfigurationSetDetails', {
  ...fields,
  assignedTo: Type.Array(SetPlace, {
    description:
      'Where it is assigned, as far as the caller may see it, in the order of assignment; without deployments',
  }),
});
export type ConfigurationSetDetails = Static<typeof ConfigurationSetDetails>;
