/** The policies of an organization for all its projects. */
import { inOrganization } from '../access/access.ts';
import type { Selectable, Updateable } from 'kysely';
import type { Organization } from '#contract/organizations/shapes.ts';
import type { UpdateOrganizationPoliciesBody } from '#contract/organizations/operations.ts';
import { isBeyondDates, ttlMilliseconds } from '../lifetimes/policy-ttl.ts';
import { changesOf } from '../audit/changes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext } from '../context.ts';
import type { OrganizationTable } from '../database/schema.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField, notFound } from '../http/errors.ts';
import { lockOrganizationRow, updateOrganizationRow } from './organization-store.ts';
import { organizationView } from './organization-view.ts';

function columns(body: UpdateOrganizationPoliciesBody): Updateable<OrganizationTable> {
  const values: Updateable<OrganizationTable> = {
    max_ttl: body.maxTtl,
    default_ttl: body.defaultTtl,
    do_not_report_skipped_status_checks: body.doNotReportSkippedStatusChecks,
    do_not_consider_merge_commits_for_pr_plans: body.doNotConsiderMergeCommitsForPrPlans,
    enable_oidc: body.enableOidc,
    enforce_pr_commenter_permissions: body.enforcePrCommenterPermissions,
    allow_mergeable_bypass_for_pr_apply: body.allowMergeableBypassForPrApply,
    require_approval_for_pr_applies: body.requireApprovalForPrApplies,
    disable_pr_comments: body.disablePrComments,
    allow_service_secrets: body.allowServiceSecrets,
    project_custom_flows_policy: body.projectCustomFlowsPolicy,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** @throws Refusal 400 if the default lifetime is longer than the maximum */
function checkTtls(
  { max_ttl, default_ttl }: Pick<Selectable<OrganizationTable>, 'max_ttl' | 'default_ttl'>,
  now: Date,
): void {
  for (const [field, ttl] of Object.entries({ maxTtl: max_ttl, defaultTtl: default_ttl }))
    if (ttl !== null && isBeyondDates(new Date(now.getTime() + 2 * ttlMilliseconds(ttl, now))))
      throw badField(`body.${field}`, `${ttl} is too long: send null for an unlimited lifetime`);
  if (max_ttl === null || default_ttl === null) return;
  if (ttlMilliseconds(default_ttl, now) > ttlMilliseconds(max_ttl, now))
    throw badField('body.defaultTtl', `${default_ttl} is longer than maxTtl ${max_ttl}`);
}

/** The right was checked. Omitted settings are unchanged. */
export async function updatePolicies(
  context: ActorContext,
  id: string,
  body: UpdateOrganizationPoliciesBody,
): Promise<Organization> {
  return inTransaction(context, async (context) => {
    const row = await lockOrganizationRow(context.db, id);
    if (!row) throw notFound('organization', id);
    const changes = columns(body);
    checkTtls({ ...row, ...changes } as typeof row, context.now());
    const updated = await updateOrganizationRow(context.db, id, {
      ...changes,
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId: id,
      action: 'organization.policiesUpdated',
      entity: 'organization',
      entityId: id,
      details: { fields: Object.keys(body) },
      ...changesOf(organizationView(row, ''), organizationView(updated, '')),
    });
    return organizationView(updated, context.actor.access.roleIn(inOrganization(id)));
  });
}
