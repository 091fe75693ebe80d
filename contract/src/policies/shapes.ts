/** The policy of a project as replies carry it. */
import { type Static, Type } from 'typebox';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { Count, Flag, replyObject, Text } from '../schema/schema.ts';

/** Settings of a policy that are on or off, in the order of the reference. */
export const policyFlags = [
  'requiresApprovalDefault',
  'includeCostEstimation',
  'skipApplyWhenPlanIsEmpty',
  'disableDestroyEnvironments',
  'forceCheckoutOnTtlDestroy',
  'skipRedundantDeployments',
  'continuousDeploymentDefault',
  'runPullRequestPlanDefault',
  'vcsPrCommentsEnabledDefault',
  'forceRemoteBackend',
  'outputsAsInputsEnabled',
] as const;
export type PolicyFlag = (typeof policyFlags)[number];

export const Policy = replyObject('Policy', {
  id: Text,
  projectId: Text,
  organizationId: Type.Optional(Text),
  updatedBy: Type.String({ description: 'Who changed it last; before that, who created the project' }),
  numberOfEnvironments: Count,
  numberOfEnvironmentsTotal: Count,
  maxTtl: Text,
  defaultTtl: Text,
  ...(Object.fromEntries(policyFlags.map((name) => [name, Flag])) as Record<PolicyFlag, typeof Flag>),
  driftDetectionEnabled: Type.Optional(Flag),
  driftDetectionCron: Type.Optional(Text),
  autoDriftRemediation: Type.Optional(oneOf(autoDriftRemediations)),
  selfApprovalForbidden: Type.Optional(
    Type.Boolean({
      description: 'Ours: whether people must not approve their own plans; absent: as the project above',
    }),
  ),
});
export type Policy = Static<typeof Policy>;
