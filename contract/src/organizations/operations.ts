/** Organizations. */
import { type Static, Type } from 'typebox';
import { OrganizationStreamEvent, withLog } from '../feeds/shapes.ts';
import { aboutOne, byId } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffect, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, nullable, Prose, Text } from '../schema/schema.ts';
import { customFlowsPolicies, Organization, OrganizationLimits } from './shapes.ts';

const OrganizationName = Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9_ -]{0,49}$' });

export const CreateOrganizationBody = closed({
  name: OrganizationName,
  description: Type.Optional(Prose),
  photoUrl: Type.Optional(Text),
});
export type CreateOrganizationBody = Static<typeof CreateOrganizationBody>;

export const UpdateOrganizationBody = closed({
  name: Type.Optional(OrganizationName),
  description: Type.Optional(clearable(Prose, '')),
  photoUrl: Type.Optional(clearable(Text, '')),
});
export type UpdateOrganizationBody = Static<typeof UpdateOrganizationBody>;

/** `n-h`, `n-d`, `n-w`, `n-M`, or null for infinite. */
const PolicyTtl = (description: string) =>
  Type.Optional(nullable(Type.String({ pattern: '^[1-9]\\d{0,5}-[hdwM]$', description })));

const Switch = Type.Optional(clearable(Flag, false));
const later = (consequence: string) => Type.Optional(clearable(withoutEffect(Flag, consequence), false));

export const UpdateOrganizationPoliciesBody = closed({
  maxTtl: PolicyTtl(
    'Maximum lifetime of environments, counted from their creation: 6-h, 3-d, 2-w, 1-M …; null: infinite',
  ),
  defaultTtl: PolicyTtl(
    'Lifetime of environments created without a ttl; at most `maxTtl`; null: infinite, or `maxTtl` if set',
  ),
  doNotReportSkippedStatusChecks: later(noEffects.statusChecks),
  doNotConsiderMergeCommitsForPrPlans: later(noEffects.pullRequestPlanDeployments),
  enableOidc: Switch,
  enforcePrCommenterPermissions: later(noEffects.commentsRead),
  allowMergeableBypassForPrApply: later(noEffects.pullRequestApplies),
  requireApprovalForPrApplies: later(noEffects.pullRequestApplies),
  disablePrComments: later(noEffects.commentsWritten),
  allowServiceSecrets: later(noEffects.serviceSecrets),
  projectCustomFlowsPolicy: Type.Optional(
    clearable(
      withoutEffectOf(oneOf(customFlowsPolicies), ['MERGE_WITH_TEMPLATES'], noEffects.customFlows),
      'OVERRIDE_TEMPLATES',
    ),
  ),
});
export type UpdateOrganizationPoliciesBody = Static<typeof UpdateOrganizationPoliciesBody>;

export const operations = defineOperations('organizations', {
  listOrganizations: operation('GET', '/organizations', {
    summary: 'List organizations',
    description: 'Those that the caller belongs to.',
    needs: 'signed-in',
    reply: Type.Array(Organization),
  }),
  createOrganization: operation('POST', '/organizations', {
    summary: 'Create organization',
    description:
      'The caller becomes its first admin. The setting `ENVARIUM_ORGANIZATION_CREATORS` says who may call it; everyone ' +
      'else gets 403.',
    needs: 'signed-in',
    body: CreateOrganizationBody,
    reply: Organization,
  }),
  getOrganization: operation('GET', '/organizations/{id}', {
    summary: 'Get organization',
    needs: 'VIEW_ORGANIZATION',
    ...aboutOne('organization'),
    reply: Organization,
  }),
  getOrganizationLimits: operation('GET', '/organizations/{id}/limits', {
    summary: 'Get limits of organization',
    description:
      'How many active environments the organization has. It has no limit of its own: `limit` is absent. Limits are ' +
      'those of the policies of its projects (`GET /policies/limits/check`).',
    needs: 'VIEW_ORGANIZATION',
    ...aboutOne('organization'),
    reply: OrganizationLimits,
  }),
  updateOrganization: operation('PUT', '/organizations/{id}', {
    summary: 'Update organization',
    description: 'Omitted fields are unchanged.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    ...aboutOne('organization'),
    body: UpdateOrganizationBody,
    reply: Organization,
  }),
  updateOrganizationPolicies: operation('POST', '/organizations/{id}/policies', {
    summary: 'Update policies of organization',
    description: 'Omitted fields are unchanged. A new maxTtl applies to future requests.',
    needs: 'EDIT_ORGANIZATION_SETTINGS',
    updates: 'getOrganization',
    ...aboutOne('organization'),
    body: UpdateOrganizationPoliciesBody,
    reply: Organization,
  }),
  streamOrganization: operation('GET', '/organizations/{id}/events', {
    summary: 'Follow organization',
    description:
      'Server-sent events: changes of deployments, their steps, environments and everything else that has ' +
      'lists (`changed`), as far as the caller, a member, may see them. The stream starts now or, with the header ' +
      '`last-event-id`, after that event. The first event is `ready`, or `reset` if the events in between ' +
      'are no longer stored and lists must be read again. With `deploymentLogId`, the same connection also ' +
      'carries the stream of that deployment from its beginning, each event as the data of a ' +
      '`deploymentEvent`; `last-event-id` then continues both, and may be sent with another ' +
      '`deploymentLogId`. The stream does not end on its own, not even with the deployment.',
    needs: 'signed-in',
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'the environment of `deploymentLogId`' }],
    params: byId,
    query: Type.Object({
      projectId: Type.Optional(Type.String({ description: 'Only events of this project' })),
      deploymentLogId: Type.Optional(
        Type.String({ minLength: 1, description: 'Also the stream of this deployment' }),
      ),
      withLog,
    }),
    reply: OrganizationStreamEvent,
    replyKind: 'event-stream',
  }),
});
