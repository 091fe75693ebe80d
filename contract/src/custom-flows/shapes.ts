/** Shapes of replies about custom flows, approval policies and their assignments. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { AnyObject, Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { recordReplyFields } from './record-fields.ts';

export const PolicyEngine = replyObject('PolicyEngine', {
  isAvailable: Type.Boolean({ description: 'Whether the service can evaluate approval policies' }),
  problem: Type.Optional(
    Type.String({ description: 'Why policies cannot be evaluated, and what to do; absent: they can' }),
  ),
});

/** Scopes of assignments of custom flows. */
export const flowScopes = ['ORGANIZATION', 'PROJECT', 'BLUEPRINT'] as const;
export type FlowScope = (typeof flowScopes)[number];

/** Scopes of assignments of approval policies. */
export const policyScopes = flowScopes;

export const flowPath = 'Path of the file of the flow in the repository, with its extension';
export const policyPath = 'Folder of the policy in the repository; empty or absent: its root';

export const CustomFlow = replyObject('CustomFlow', {
  type: Type.Literal('custom-flow'),
  ...recordReplyFields(flowPath),
  isTerragruntRunAll: Type.Optional(Flag),
});
export type CustomFlow = Static<typeof CustomFlow>;

export const ApprovalPolicy = replyObject('ApprovalPolicy', {
  type: Type.Literal('approval-policy'),
  ...recordReplyFields(policyPath),
  policyConfiguration: Type.Optional({
    ...AnyObject,
    description: 'Parameters of the policy, its `input.policyConfiguration`; absent: none',
  }),
});
export type ApprovalPolicy = Static<typeof ApprovalPolicy>;

export const FlowOrder = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'Place among the flows that are assigned there; flows without one come last',
});

export const CustomFlowAssignment = replyObject('CustomFlowAssignment', {
  scope: oneOf(flowScopes),
  scopeId: Text,
  blueprintId: Type.String({ description: 'Id of the custom flow' }),
  organizationId: Text,
  order: Type.Optional(FlowOrder),
  customFlowTemplate: CustomFlow,
});
export type CustomFlowAssignment = Static<typeof CustomFlowAssignment>;

const policyAssignmentFields = {
  scope: oneOf(policyScopes),
  scopeId: Text,
  blueprintId: Type.String({ description: 'Id of the approval policy' }),
  hash: Type.Optional(
    Type.String({
      description:
        'SHA-256 over the files of the policy as they were last evaluated; before the first evaluation, over the ' +
        'repository, revision, path and configuration',
    }),
  ),
};

export const ApprovalPolicyAssignment = replyObject('ApprovalPolicyAssignment', policyAssignmentFields);
export type ApprovalPolicyAssignment = Static<typeof ApprovalPolicyAssignment>;

export const AssignedApprovalPolicy = replyObject('AssignedApprovalPolicy', {
  id: Type.String({ description: 'Id of the assignment' }),
  scope: oneOf(policyScopes),
  scopeId: Text,
  blueprint: ApprovalPolicy,
  createdAt: Instant,
});
export type AssignedApprovalPolicy = Static<typeof AssignedApprovalPolicy>;

export const ApprovalPolicyEntry = replyObject('ApprovalPolicyEntry', {
  policy: ApprovalPolicy,
  assignments: Type.Array(
    replyObject('NamedApprovalPolicyAssignment', {
      ...policyAssignmentFields,
      scopeName: Type.String({ description: 'Name of the organization, the project or the template' }),
    }),
    { description: 'Those that the caller may see' },
  ),
});
export type ApprovalPolicyEntry = Static<typeof ApprovalPolicyEntry>;
