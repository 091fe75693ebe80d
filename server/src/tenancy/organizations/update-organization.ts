/** Changes what an organization is called, and its policies for all its projects. */

import type { Updateable } from 'kysely';
import type {
  UpdateOrganizationBody,
  UpdateOrganizationPoliciesBody,
} from '#contract/organizations/operations.ts';
import type { Organization } from '#contract/organizations/shapes.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { orNotFound } from '../../ground/errors.ts';
import {
  lockOrganizationRow,
  type OrganizationRow,
  updateOrganizationRow,
} from '../../rows/organizations/organization-store.ts';
import { inOrganization } from '../../rows/places.ts';
import type { OrganizationTable } from '../../rows/schema.ts';
import { checkTtls } from '../lifetimes/policy-ttl.ts';
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

interface OrganizationUpdate {
  /** As the audit trail calls it. */
  readonly action: string;
  readonly body: object;
  /** @throws Refusal where the organization cannot have the values */
  changesOf(row: OrganizationRow): Updateable<OrganizationTable>;
}

async function change(
  context: ActorContext,
  id: string,
  { action, body, ...what }: OrganizationUpdate,
): Promise<Organization> {
  return inTransaction(context, async (context) => {
    const row = orNotFound(await lockOrganizationRow(context.db, id), 'organization', id);
    const updated = await updateOrganizationRow(context.db, id, {
      ...what.changesOf(row),
      updated_at: context.now(),
    });
    await recordAudit(context, {
      organizationId: id,
      action,
      entityId: id,
      details: { fields: Object.keys(body) },
      ...changesOf(organizationView(row, ''), organizationView(updated, '')),
    });
    return organizationView(updated, context.actor.access.roleIn(inOrganization(id)));
  });
}

/** The right was checked. Omitted settings are unchanged. @throws Refusal 400 for lifetimes that contradict each other */
export function updatePolicies(
  context: ActorContext,
  id: string,
  body: UpdateOrganizationPoliciesBody,
): Promise<Organization> {
  return change(context, id, {
    action: 'organization.policiesUpdated',
    body,
    changesOf: (row) => {
      const changes = columns(body);
      const { max_ttl: maxTtl, default_ttl: defaultTtl } = { ...row, ...changes } as OrganizationRow;
      checkTtls(maxTtl, defaultTtl, context.now());
      return changes;
    },
  });
}

/** The right was checked. Omitted fields are unchanged. */
export function updateOrganization(
  context: ActorContext,
  id: string,
  body: UpdateOrganizationBody,
): Promise<Organization> {
  const { name, description, photoUrl } = body;
  const values = { name, description, photo_url: photoUrl };
  const changes = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return change(context, id, { action: 'organization.updated', body, changesOf: () => changes });
}
