/** The policy of a project as replies carry it. */
import { type Static, Type } from 'typebox';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { Count, Flag, replyObject, Text } from '../schema/schema.ts';
import { type PolicyFlag, policyFlags } from './policy-flags.ts';

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
  isSelfApprovalForbidden: Type.Optional(
    Type.Boolean({
      description:
        'Ours: whether that holds now, because of this project or one above it. False counts only while its ' +
        'author may edit the settings of the projects above that have true',
    }),
  ),
});
export type Policy = Static<typeof Policy>;

export const LimitsCheck = replyObject('LimitsCheck', {
  warnings: replyObject('LimitWarnings', {
    total: Type.Boolean({
      description: 'Whether one more active environment would be more than `numberOfEnvironmentsTotal`',
    }),
    user: Type.Boolean({
      description:
        'Whether one more of the caller would be more than `numberOfEnvironments`; false for who may exceed it',
    }),
  }),
  total: Type.Integer({ description: 'Active environments of the project' }),
  user: Type.Integer({ description: 'Active environments of the project that the caller has created' }),
});
export type LimitsCheck = Static<typeof LimitsCheck>;
