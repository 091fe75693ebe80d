/** Organizations. */
import { type Static, Type } from 'typebox';
import { oneOf } from '../schema/enumerations.ts';
import { OrganizationStreamEvent } from '../feeds/shapes.ts';
import { operation } from '../operation.ts';
import { closed, Flag, Instant, Name, nullable, replyObject, Text } from '../schema/schema.ts';

const customFlowsPolicies = ['MERGE_WITH_TEMPLATES', 'OVERRIDE_TEMPLATES'] as const;

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

export const CreateOrganizationBody = closed({
  name: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9_ -]{0,49}$' }),
  description: Type.Optional(Text),
  photoUrl: Type.Optional(Text),
});
export type CreateOrganizationBody = Static<typeof CreateOrganizationBody>;

const family = 'organizations';

export const listOrganizations = operation('listOrganizations', {
  family,
  summary: 'List organizations',
  description: 'Those that the caller belongs to.',
  needs: 'signed-in',
  reply: Type.Array(Organization),
});

export const createOrganization = operation('createOrganization', {
  family,
  summary: 'Create organization',
  description: 'The caller becomes its first admin.',
  needs: 'signed-in',
  body: CreateOrganizationBody,
  reply: Organization,
});

export const getOrganization = operation('getOrganization', {
  family,
  summary: 'Get organization',
  needs: 'VIEW_ORGANIZATION',
  subject: { entity: 'organization', in: 'params', field: 'id' },
  params: Type.Object({ id: Name }),
  reply: Organization,
});

/** `n-h`, `n-d`, `n-w`, `n-M`, or null for infinite. */
const PolicyTtl = (description: string) =>
  Type.Optional(nullable(Type.String({ pattern: '^[1-9]\\d{0,5}-[hdwM]$', description })));

export const UpdateOrganizationPoliciesBody = closed({
  maxTtl: PolicyTtl(
    'The longest life of an environment, from its creation: 6-h, 3-d, 2-w, 1-M …; null: infinite',
  ),
  defaultTtl: PolicyTtl(
    'The life of an environment that is created without a ttl; at most maxTtl; null: infinite, or the longest where there is one',
  ),
  doNotReportSkippedStatusChecks: Type.Optional(Flag),
  doNotConsiderMergeCommitsForPrPlans: Type.Optional(Flag),
  enableOidc: Type.Optional(Flag),
  enforcePrCommenterPermissions: Type.Optional(Flag),
  allowMergeableBypassForPrApply: Type.Optional(Flag),
  requireApprovalForPrApplies: Type.Optional(Flag),
  disablePrComments: Type.Optional(Flag),
  allowServiceSecrets: Type.Optional(Flag),
  projectCustomFlowsPolicy: Type.Optional(oneOf(customFlowsPolicies)),
});
export type UpdateOrganizationPoliciesBody = Static<typeof UpdateOrganizationPoliciesBody>;

export const updateOrganizationPolicies = operation('updateOrganizationPolicies', {
  family,
  summary: 'Update policies of organization',
  description: 'Changes the fields that are sent. A new maxTtl counts for what is asked for from now on.',
  needs: 'EDIT_ORGANIZATION_SETTINGS',
  subject: { entity: 'organization', in: 'params', field: 'id' },
  params: Type.Object({ id: Name }),
  body: UpdateOrganizationPoliciesBody,
  reply: Organization,
});

export const streamOrganization = operation('streamOrganization', {
  family,
  summary: 'Follow organization',
  description:
    'Server-sent events: what becomes of deployments, their steps and environments in all projects that the caller may see. From now on, or with the header `last-event-id` after that event. The first event is `ready`, or `reset` where events in between are no longer kept and lists have to be read again. It never ends by itself.',
  needs: 'VIEW_ENVIRONMENT',
  subject: { entity: 'organization', in: 'params', field: 'id' },
  params: Type.Object({ id: Name }),
  query: Type.Object({ projectId: Type.Optional(Type.String({ description: 'Only of this project' })) }),
  reply: OrganizationStreamEvent,
  replyKind: 'event-stream',
});
