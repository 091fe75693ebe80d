/** Organizations. */
import { type Static, Type } from 'typebox';
import { oneOf } from './enumerations.ts';
import { operation } from './operation.ts';
import { closed, Flag, Instant, Name, replyObject, Text } from './schema.ts';

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
  projectCustomFlowsPolicy: oneOf(['MERGE_WITH_TEMPLATES', 'OVERRIDE_TEMPLATES']),
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
