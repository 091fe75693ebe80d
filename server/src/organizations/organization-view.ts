/** An organization as the interface answers it. */
import type { Selectable } from 'kysely';
import type { Organization } from '#contract/organizations.ts';
import type { OrganizationTable } from '../database/schema.ts';

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
    doNotReportSkippedStatusChecks: false,
    doNotConsiderMergeCommitsForPrPlans: false,
    enableOidc: false,
    enforcePrCommenterPermissions: false,
    allowMergeableBypassForPrApply: false,
    projectCustomFlowsPolicy: 'OVERRIDE_TEMPLATES',
  };
}
