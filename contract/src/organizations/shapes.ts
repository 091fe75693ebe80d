/** Shapes of replies about organizations. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

export const customFlowsPolicies = ['MERGE_WITH_TEMPLATES', 'OVERRIDE_TEMPLATES'] as const;

export const Organization = replyObject('Organization', {
  id: Text,
  createdAt: Instant,
  updatedAt: Instant,
  name: Text,
  description: Type.Optional(Text),
  photoUrl: Type.Optional(Text),
  createdBy: Text,
  maxTtl: Text,
  defaultTtl: Text,
  role: Type.String({ description: 'The role of the caller' }),
  isSelfHosted: Flag,
  isSelfHostedK8s: Flag,
  mode: oneOf(['free', 'paying', 'trial']),
  doNotReportSkippedStatusChecks: Flag,
  doNotConsiderMergeCommitsForPrPlans: Flag,
  enableOidc: Flag,
  enforcePrCommenterPermissions: Flag,
  allowMergeableBypassForPrApply: Flag,
  requireApprovalForPrApplies: Flag,
  disablePrComments: Flag,
  allowServiceSecrets: Flag,
  projectCustomFlowsPolicy: oneOf(customFlowsPolicies),
});
export type Organization = Static<typeof Organization>;

/** Inactive: deactivated by the identity provider of the organization. */
export const memberStatuses = ['Active', 'Invited', 'Inactive'] as const;

export const Member = replyObject('Member', {
  user: User,
  role: Type.String({ description: 'Admin, User or the id of a custom role' }),
  status: oneOf(memberStatuses),
});
export type Member = Static<typeof Member>;

export const OrganizationLimits = replyObject('OrganizationLimits', {
  environments: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 0, description: 'Absent: there is none' })),
      amount: Type.Integer({ minimum: 0, description: 'How many active ones there are' }),
      limitReached: Type.Boolean({ description: 'Whether one more would be one too many' }),
    },
    { description: 'Of the whole organization' },
  ),
});
export type OrganizationLimits = Static<typeof OrganizationLimits>;
