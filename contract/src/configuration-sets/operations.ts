/** Configuration sets: named groups of variables, assigned to any number of places. */

import { type Static, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation, variablesMegabytes } from '../schema/operation.ts';
import { closed, Name, orNull, Prose, Text, Title } from '../schema/schema.ts';
import { mostVariableChanges, VariableChangeBody } from '../variables/shapes.ts';
import {
  ConfigurationSet,
  ConfigurationSetDetails,
  setAssignmentScopes,
  setCreationScopes,
} from './shapes.ts';

const variablesOf = (description: string) =>
  orNull(Type.Array(VariableChangeBody, { maxItems: mostVariableChanges, description }));

export const CreateSetBody = closed({
  name: Title,
  description: orNull(Prose),
  scope: oneOf(setCreationScopes),
  scopeId: Type.String({
    minLength: 1,
    description: 'Id of the organization or the project in which the set is created',
  }),
  configurationProperties: variablesOf('Its variables'),
});
export type CreateSetBody = Static<typeof CreateSetBody>;

export const UpdateSetBody = closed({
  name: Type.Optional(Title),
  description: Type.Optional(clearable(Prose, '')),
  configurationPropertiesChanges: variablesOf('Variables to create, change or delete'),
});
export type UpdateSetBody = Static<typeof UpdateSetBody>;

const ListSetsQuery = Type.Object({
  scope: Type.Optional(oneOf(setCreationScopes)),
  scopeId: Type.Optional(
    Type.String({ description: 'Sets that were created in this organization or project' }),
  ),
  organizationId: Type.Optional(Type.String({ description: 'The same, of an organization' })),
  projectId: Type.Optional(Type.String({ description: 'The same, of a project' })),
});
export type ListSetsQuery = Static<typeof ListSetsQuery>;

const thisSet = aboutOne('configurationSet');
const place = { entity: 'assignmentScope', in: 'params', field: 'scopeId' } as const;
const byPlace = Type.Object({
  scope: Type.String({ description: setAssignmentScopes.join(', ') }),
  scopeId: Type.String({ minLength: 1, description: 'Id of the organization, the project and so on' }),
});
const byAssignedPlace = Type.Object({
  ...byPlace.properties,
  scope: withoutEffectOf(byPlace.properties.scope, ['module'], noEffects.moduleSets),
});
const SetIds = Type.Object({
  setIds: Type.String({ minLength: 1, description: 'Ids of configuration sets, separated by commas' }),
});

const editRights = [
  { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'a set of the organization' },
  { right: 'EDIT_PROJECT_SETTINGS', for: 'a set of a project' },
] as const;
const viewRights = [{ right: 'VIEW_PROJECT', for: 'a set of a project' }] as const;
const assignRights = [
  { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'scope organization' },
  { right: 'EDIT_PROJECT_SETTINGS', for: 'scope project' },
  { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'scope template' },
  { right: 'CREATE_AND_EDIT_MODULES', for: 'scope module' },
  { right: 'EDIT_ENVIRONMENT_SETTINGS', for: 'scope environment' },
] as const;

const sets = {
  listConfigurationSets: operation('GET', '/configuration-sets', {
    summary: 'List configuration sets',
    description: 'Those that were created in the organization, or in the project; newest first.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: viewRights,
    subject: [
      { entity: 'creationScope', in: 'query', field: 'scopeId' },
      { entity: 'project', in: 'query', field: 'projectId' },
      inOrganization.subject,
    ],
    query: ListSetsQuery,
    reply: Type.Array(ConfigurationSet),
  }),
  createConfigurationSet: operation('POST', '/configuration-sets', {
    summary: 'Create configuration set',
    description:
      'A set of an organization can be assigned everywhere, one of a project in that project and below it.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: editRights,
    subject: { entity: 'creationScope', in: 'body', field: 'scopeId' },
    body: CreateSetBody,
    bodyMegabytes: variablesMegabytes,
    reply: ConfigurationSet,
  }),
  getConfigurationSet: operation('GET', '/configuration-sets/{id}', {
    summary: 'Get configuration set',
    description: 'Its variables: `GET /configuration` with `setId`.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: viewRights,
    ...thisSet,
    reply: ConfigurationSetDetails,
  }),
  updateConfigurationSet: operation('PUT', '/configuration-sets/{id}', {
    summary: 'Update a configuration set',
    description:
      'Omitted fields and variables are unchanged. Of `configurationPropertiesChanges`, an element with `id` ' +
      'changes that variable, one with `toDelete` removes it, and one without `id` adds a variable; if the set ' +
      'has a variable of this name and type, its settings are replaced.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: editRights,
    ...thisSet,
    body: UpdateSetBody,
    bodyMegabytes: variablesMegabytes,
    reply: ConfigurationSet,
    inInterface: true,
  }),
  deleteConfigurationSet: operation('DELETE', '/configuration-sets/{id}', {
    summary: 'Delete configuration set',
    description:
      'Also one that is assigned: later deployments run without its variables, and those that ran with it still ' +
      'name it.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: editRights,
    ...thisSet,
    reply: Type.Object({ id: Text }),
  }),
};

const assignments = {
  listSetAssignments: operation('GET', '/configuration-sets/assignments/{scope}/{scopeId}', {
    summary: 'List assigned configuration sets',
    description:
      'Also inherited ones: `assignmentScope` and `assignmentScopeId` are where a set is assigned. From the ' +
      'organization inwards, at each place in the order of assignment: later ones win. Scope deployment: the ' +
      'sets that the deployment was started with, in the order of their assignment.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [
      { right: 'VIEW_PROJECT', for: 'scope project, and templates of a project' },
      { right: 'VIEW_ENVIRONMENT', for: 'scope environment or deployment' },
      { right: 'VIEW_MODULES', for: 'scope module' },
    ],
    subject: place,
    params: byPlace,
    reply: Type.Array(ConfigurationSet),
  }),
  assignConfigurationSets: operation('POST', '/configuration-sets/assignments/{scope}/{scopeId}', {
    summary: 'Assign configuration sets',
    description: 'Sets that are already assigned there remain at their place in the order.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: assignRights,
    subject: place,
    params: byAssignedPlace,
    query: SetIds,
    reply: Type.Null(),
  }),
  assignConfigurationSet: operation('POST', '/configuration-sets/{id}/assignments/{scope}/{scopeId}', {
    summary: 'Assign configuration set',
    description:
      'The older form, for one set. A set that is already assigned there remains at its place in the order.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: assignRights,
    subject: place,
    params: Type.Object({ id: Name, ...byAssignedPlace.properties }),
    reply: Type.Null(),
  }),
  unassignConfigurationSets: operation('DELETE', '/configuration-sets/assignments/{scope}/{scopeId}', {
    summary: 'Unassign configuration sets',
    description: '404 if one of them is not assigned there, which includes inherited ones.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [
      ...assignRights,
      {
        right: 'EDIT_PROJECT_SETTINGS',
        for: 'a set of a project that demands approvals and that another user assigned, there',
      },
      {
        right: 'EDIT_ORGANIZATION_SETTINGS',
        for: 'a set of the organization that demands approvals and that another user assigned',
      },
    ],
    subject: place,
    params: byPlace,
    query: SetIds,
    reply: Type.Null(),
  }),
};

export const operations = defineOperations('configuration sets', { ...sets, ...assignments });
