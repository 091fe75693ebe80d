/** Custom flows of an organization, as records, and the places that they are assigned to. */
import { type Static, Type } from 'typebox';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Name, Text } from '../schema/schema.ts';
import { recordRequestFields } from './record-fields.ts';
import { CustomFlow, CustomFlowAssignment, FlowOrder, flowPath, flowScopes } from './shapes.ts';

const thisFlow = aboutOne('customFlow');
const fields = {
  ...recordRequestFields(flowPath),
  isTerragruntRunAll: Type.Optional(Type.Boolean({ description: 'Only false: a flow has no tool' })),
};

const placeFields = { scope: oneOf(flowScopes), scopeId: Name, order: Type.Optional(FlowOrder) };
const FlowId = Type.String({ minLength: 1, description: 'Id of the custom flow' });
export const FlowAssignmentBody = closed({ ...placeFields, blueprintId: FlowId });
export type FlowAssignmentBody = Static<typeof FlowAssignmentBody>;
export const FlowPlaceBody = closed({ ...placeFields, blueprintId: Type.Optional(FlowId) });
export type FlowPlaceBody = Static<typeof FlowPlaceBody>;
const mostPlaces = 100;

const assignRights = [
  { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'scope ORGANIZATION' },
  { right: 'EDIT_PROJECT_SETTINGS', for: 'scope PROJECT' },
  { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'scope BLUEPRINT' },
  { right: 'EDIT_VCS_ENVIRONMENT', for: 'scope BLUEPRINT, and the template of a single environment' },
] as const;

export const operations = defineOperations('custom flows', {
  listCustomFlows: operation('GET', '/custom-flows', {
    summary: 'List custom flows',
    description: 'Newest first, without deleted ones.',
    needs: 'VIEW_ORGANIZATION',
    subject: inOrganization.subject,
    query: Type.Object({
      organizationId: Text,
      name: Type.Optional(Type.String({ description: 'The exact name' })),
    }),
    reply: Type.Array(CustomFlow),
  }),
  createCustomFlow: operation('POST', '/custom-flow', {
    summary: 'Create custom flow',
    description:
      'Stores where the file of the flow is; this version does not read or run it. Its name is unique among the ' +
      'custom flows of the organization.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({ organizationId: Name, ...fields }),
    reply: CustomFlow,
  }),
  updateCustomFlow: operation('PUT', '/custom-flow', {
    summary: 'Update custom flow',
    description: 'Replaces the flow: settings that are absent are cleared. Assignments stay.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    subject: { entity: 'customFlow', in: 'body', field: 'id' },
    updates: 'getCustomFlow',
    body: closed({ id: Name, ...fields }),
    reply: CustomFlow,
  }),
  getCustomFlow: operation('GET', '/custom-flow/{id}', {
    summary: 'Get custom flow',
    description: '404 for a deleted one.',
    needs: 'VIEW_ORGANIZATION',
    ...thisFlow,
    reply: CustomFlow,
  }),
  deleteCustomFlow: operation('DELETE', '/custom-flow/{id}', {
    summary: 'Delete custom flow',
    description: 'It is no longer assigned anywhere, and its name can be used again.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    ...thisFlow,
    reply: Type.Object({ id: Text }),
  }),
  assignCustomFlows: operation('POST', '/custom-flow/assign', {
    summary: 'Assign custom flows',
    description:
      'All or none. A flow that is already assigned there gets the `order` of the request. Stored: flows are not ' +
      'run yet.',
    needs: 'signed-in',
    needsToo: assignRights,
    body: withoutEffect(Type.Array(FlowAssignmentBody, { maxItems: mostPlaces }), noEffects.customFlows),
    reply: Type.Null(),
  }),
  unassignCustomFlows: operation('POST', '/custom-flow/unassign', {
    summary: 'Unassign custom flows',
    description: 'All or none. A flow that is not assigned there is ignored, and so is `order`.',
    needs: 'signed-in',
    needsToo: assignRights,
    body: Type.Array(FlowAssignmentBody, { maxItems: mostPlaces }),
    reply: Type.Null(),
  }),
  listCustomFlowAssignments: operation('POST', '/custom-flow/get-assignments', {
    summary: 'List assigned custom flows',
    description:
      'Changes nothing. Flows that are assigned to the places of the request themselves, without inherited ' +
      'ones: by place in the order of the request, then by `order`, then in the order of assignment. With ' +
      '`blueprintId`: that flow only.',
    needs: 'signed-in',
    needsToo: [
      { right: 'VIEW_ORGANIZATION', for: 'scope ORGANIZATION, and templates of the organization' },
      { right: 'VIEW_PROJECT', for: 'scope PROJECT, and templates of a project' },
    ],
    body: Type.Array(FlowPlaceBody, { maxItems: mostPlaces }),
    reply: Type.Array(CustomFlowAssignment),
  }),
});
