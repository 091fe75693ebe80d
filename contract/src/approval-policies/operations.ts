/** Approval policies of an organization, as records, and the places that they are assigned to. */
import { Type } from 'typebox';
import { recordRequestFields } from '../custom-flows/record-fields.ts';
import {
  ApprovalPolicy,
  ApprovalPolicyAssignment,
  ApprovalPolicyEntry,
  AssignedApprovalPolicy,
  PolicyEngine,
  policyPath,
  policyScopes,
} from '../custom-flows/shapes.ts';
import { aboutOne, inOrganization } from '../schema/by-id.ts';
import { oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { AnyObject, closed, Name, Text } from '../schema/schema.ts';
import { CataloguePolicy } from './catalogue.ts';
import { catalogueRepository } from './catalogue-repository.ts';

const fields = {
  ...recordRequestFields(policyPath),
  policyConfiguration: Type.Optional({
    ...AnyObject,
    description: 'Parameters of the policy, its `input.policyConfiguration`',
  }),
};
const place = { entity: 'assignmentScope', in: 'params', field: 'scopeId' } as const;
const byPlace = Type.Object({
  scope: Type.String({ description: policyScopes.join(', ') }),
  scopeId: Type.String({ minLength: 1, description: 'Id of the organization, the project or the template' }),
});

const assignRights = [
  { right: 'EDIT_ORGANIZATION_SETTINGS', for: 'scope ORGANIZATION' },
  { right: 'EDIT_PROJECT_SETTINGS', for: 'scope PROJECT' },
  { right: 'CREATE_AND_EDIT_TEMPLATES', for: 'scope BLUEPRINT' },
  { right: 'EDIT_VCS_ENVIRONMENT', for: 'scope BLUEPRINT, and the template of a single environment' },
] as const;

const policies = {
  listApprovalPolicies: operation('GET', '/approval-policies', {
    summary: 'List approval policies',
    description: 'Newest first, without deleted ones, each with where it is assigned.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [{ right: 'VIEW_PROJECT', for: 'assignments to a project and to templates of a project' }],
    ...inOrganization,
    reply: Type.Array(ApprovalPolicyEntry),
    inInterface: true,
  }),
  findApprovalPolicies: operation('GET', '/approval-policy', {
    summary: 'Find approval policies by name',
    description: 'Without deleted ones. Without `name`: all, newest first.',
    needs: 'VIEW_ORGANIZATION',
    subject: inOrganization.subject,
    query: Type.Object({
      organizationId: Text,
      name: Type.Optional(Type.String({ description: 'The exact name' })),
    }),
    reply: Type.Array(ApprovalPolicy),
  }),
  listCataloguePolicies: operation('GET', '/approval-policies/catalogue', {
    summary: 'List policies of the catalogue',
    description:
      `Those that come with the service, by folder. One is used by \`POST /approval-policy\` with repository ` +
      `\`${catalogueRepository}\` and its \`path\`.`,
    needs: 'signed-in',
    reply: Type.Array(CataloguePolicy),
  }),
  getPolicyEngine: operation('GET', '/approval-policies/engine', {
    summary: 'Get policy engine',
    description:
      'Whether this service can evaluate approval policies. Without the program `opa` it cannot, and deployments ' +
      'that a policy is to check fail.',
    needs: 'signed-in',
    reply: PolicyEngine,
  }),
  createApprovalPolicy: operation('POST', '/approval-policy', {
    summary: 'Create approval policy',
    description:
      'Stores where the files of the policy are; they are read when a deployment is checked. Its name is unique ' +
      'among the approval policies of the organization. Path and configuration of a policy of the catalogue are ' +
      'checked. `GET` and `DELETE /blueprints/{id}` read and delete it.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    subject: { entity: 'organization', in: 'body', field: 'organizationId' },
    body: closed({ organizationId: Name, ...fields }),
    reply: ApprovalPolicy,
  }),
  updateApprovalPolicy: operation('PUT', '/approval-policy', {
    summary: 'Update approval policy',
    description: 'Replaces the policy: settings that are absent are cleared. Assignments stay.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    subject: { entity: 'approvalPolicy', in: 'body', field: 'id' },
    updates: 'getTemplate',
    body: closed({ id: Name, ...fields }),
    reply: ApprovalPolicy,
  }),
  deleteApprovalPolicy: operation('DELETE', '/approval-policy/delete/{id}', {
    summary: 'Delete approval policy',
    description: 'It is no longer assigned anywhere, and its name can be used again.',
    needs: 'CREATE_AND_EDIT_TEMPLATES',
    ...aboutOne('approvalPolicy'),
    reply: Type.Object({ id: Text }),
  }),
};

const assignments = {
  assignApprovalPolicy: operation('POST', '/approval-policy/assignment', {
    summary: 'Assign approval policy',
    description:
      'Deployments that start from then on are checked by it: of the template, or of all environments of the ' +
      'organization, or of the project and those below it. Assigning it again changes nothing. The header ' +
      '`x-envarium-warning` says if the service cannot evaluate policies.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: assignRights,
    subject: { entity: 'assignmentScope', in: 'body', field: 'scopeId' },
    body: closed({
      scope: oneOf(policyScopes),
      scopeId: Name,
      blueprintId: Type.String({ minLength: 1, description: 'Id of the approval policy' }),
    }),
    reply: ApprovalPolicyAssignment,
  }),
  unassignApprovalPolicy: operation('DELETE', '/approval-policy/assignment', {
    summary: 'Unassign approval policy',
    description: 'A policy that is not assigned there is ignored.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: assignRights,
    subject: { entity: 'policyAssignment', in: 'query', field: 'id' },
    query: Type.Object({
      id: Type.String({
        description: '`<scope>#<scopeId>#<blueprintId>`, with `#` encoded as `%23`',
      }),
    }),
    reply: Type.Null(),
  }),
  unassignApprovalPolicies: operation('DELETE', '/approval-policy/assignment/{scope}/{scopeId}', {
    summary: 'Unassign all approval policies',
    description: 'Of an organization, a project or a template; inherited ones stay.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: assignRights,
    subject: place,
    params: byPlace,
    reply: Type.Null(),
  }),
  listAssignedApprovalPolicies: operation('GET', '/approval-policy/{scope}/{scopeId}', {
    summary: 'List assigned approval policies',
    description: 'Those of the place itself, without inherited ones; newest assignment first.',
    needs: 'VIEW_ORGANIZATION',
    needsToo: [{ right: 'VIEW_PROJECT', for: 'scope PROJECT, and templates of a project' }],
    subject: place,
    params: byPlace,
    reply: Type.Array(AssignedApprovalPolicy),
  }),
};

export const operations = defineOperations('approval policies', { ...policies, ...assignments });
