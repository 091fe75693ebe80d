/** An organization as the interface answers it. */
import type { Selectable } from 'kysely';
import type { Organization } from '#contract/organizations/shapes.ts';
import type { OrganizationTable } from '../../rows/schema.ts';

/** @param role the caller's */
export function organizationView(row: Selectable<OrganizationTable>, role: string): Organization {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    ...(row.description ? { description: row.description } : {}),
    ...(row.photo_url ? { photoUrl: row.photo_url } : {}),
    createdBy: row.created_by,
    maxTtl: row.max_ttl,
    defaultTtl: row.default_ttl,
    role,
    isSelfHosted: true,
    isSelfHostedK8s: false,
    mode: 'paying',
    doNotReportSkippedStatusChecks: row.do_not_report_skipped_status_checks,
    doNotConsiderMergeCommitsForPrPlans: row.do_not_consider_merge_commits_for_pr_plans,
    enableOidc: row.enable_oidc,
    enforcePrCommenterPermissions: row.enforce_pr_commenter_permissions,
    allowMergeableBypassForPrApply: row.allow_mergeable_bypass_for_pr_apply,
    requireApprovalForPrApplies: row.require_approval_for_pr_applies,
    disablePrComments: row.disable_pr_comments,
    allowServiceSecrets: row.allow_service_secrets,
    projectCustomFlowsPolicy: row.project_custom_flows_policy as Organization['projectCustomFlowsPolicy'],
  };
}
