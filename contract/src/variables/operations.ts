/** Variables (on the wire: configuration properties) of every scope. */

import { Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { defineOperations, operation, variablesMegabytes } from '../schema/operation.ts';
import { Text } from '../schema/schema.ts';
import { Variable, VariableWrites } from './shapes.ts';

const id = (description: string) => Type.Optional(Type.String({ description }));

/** Rights to change variables, by their scope. */
const changeRights = [
  {
    right: 'EDIT_ORGANIZATION_SETTINGS',
    for: 'scope GLOBAL, or a configuration set of the organization',
  },
  { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'scope BLUEPRINT or SUB_ENVIRONMENT_BLUEPRINT' },
  { right: 'EDIT_VCS_ENVIRONMENT', for: 'scope BLUEPRINT, and the template of a single environment' },
  { right: 'EDIT_PROJECT_SETTINGS', for: 'scope PROJECT, or a configuration set of a project' },
  { right: 'EDIT_ENVIRONMENT_SETTINGS', for: 'scope ENVIRONMENT or WORKFLOW' },
  { right: 'RUN_APPLY', for: 'ENVARIUM_REQUIRES_APPROVAL, other than `true`' },
] as const;

export const operations = defineOperations('variables', {
  listVariables: operation('GET', '/configuration', {
    summary: 'List variables by scope',
    description:
      'Merges the scopes that the request names with everything outside of them, and returns one row per ' +
      'name and type: the one that counts, with its scope, and in `overwrites` what it hides. `setId` returns ' +
      'the variables of that set only, `deploymentLogId` those that the deployment runs with. Without any of ' +
      'these: the variables of the organization. Sorted by name and type.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [
      { right: 'VIEW_ENVIRONMENT', for: '`environmentId`, `workflowEnvironmentId` or `deploymentLogId`' },
      {
        right: 'VIEW_PROJECT',
        for: '`projectId`, or a template or configuration set of a project',
      },
    ],
    subject: [
      { entity: 'environment', in: 'query', field: 'environmentId', needs: 'VIEW_ENVIRONMENT' },
      { entity: 'environment', in: 'query', field: 'workflowEnvironmentId', needs: 'VIEW_ENVIRONMENT' },
      { entity: 'deployment', in: 'query', field: 'deploymentLogId', needs: 'VIEW_ENVIRONMENT' },
      { entity: 'project', in: 'query', field: 'projectId', needs: 'VIEW_PROJECT' },
      inOrganization.subject,
    ],
    query: Type.Object({
      organizationId: Text,
      projectId: id('With the projects above it'),
      blueprintId: id('A template'),
      environmentId: id('With its project, template and organization'),
      deploymentLogId: id('What the deployment runs with; no other scope with it'),
      workflowEnvironmentId: id(
        'The environment of a workflow; of its sub-environments with `environmentId`',
      ),
      workflowBlueprintId: id('The template of a workflow'),
      workflowBlueprintIdSubAlias: id(
        '`<template id>:<alias>`: what a workflow gives to one sub-environment',
      ),
      setId: id('A configuration set: its own variables; no other scope with it'),
    }),
    reply: Type.Array(Variable),
    inInterface: true,
  }),
  saveVariables: operation('POST', '/configuration', {
    summary: 'Create or update variables',
    description:
      'All or none; the reply has the order of the request. With an `id`, or where the scope has a variable ' +
      'of that name and type, it is updated, and omitted fields are unchanged; an `id` of an outer scope ' +
      'creates an override in the scope of the request. `toDelete` deletes it. Each variable needs the right ' +
      'to change its scope.',
    needs: 'signed-in',
    needsToo: changeRights,
    body: VariableWrites,
    bodyMegabytes: variablesMegabytes,
    reply: Type.Array(Variable),
  }),
  getVariable: operation('GET', '/configuration/{id}', {
    summary: 'Get variable',
    description: 'As it is stored in its scope, whatever other scopes have.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [
      { right: 'VIEW_PROJECT', for: 'a variable in a project' },
      { right: 'VIEW_ENVIRONMENT', for: 'a variable of an environment' },
    ],
    ...aboutOne('variable'),
    reply: Variable,
  }),
  deleteVariable: operation('DELETE', '/configuration/{id}', {
    summary: 'Delete variable',
    description: 'Needs the right to change its scope, as `POST /configuration` does.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: changeRights,
    ...aboutOne('variable'),
    reply: Type.Object({ id: Text }),
  }),
});
