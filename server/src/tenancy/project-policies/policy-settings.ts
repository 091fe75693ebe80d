/** The settings of a project's policy, as they hold: stored, or the default ones. */

import { type PolicyFlag, policyFlags } from '#contract/project-policies/policy-flags.ts';
import { type PolicySettings, policyDefaults } from '#contract/project-policies/policy-origins.ts';
import type { Connection } from '../../framework/context.ts';
import { getPolicyRow, type PolicyRow } from '../../rows/project-policies/policy-store.ts';
import type { ProjectPolicyTable } from '../../rows/schema.ts';

/** The column of a flag. */
const flagColumns = {
  requiresApprovalDefault: 'requires_approval_default',
  includeCostEstimation: 'include_cost_estimation',
  skipApplyWhenPlanIsEmpty: 'skip_apply_when_plan_is_empty',
  disableDestroyEnvironments: 'disable_destroy_environments',
  forceCheckoutOnTtlDestroy: 'force_checkout_on_ttl_destroy',
  skipRedundantDeployments: 'skip_redundant_deployments',
  continuousDeploymentDefault: 'continuous_deployment_default',
  runPullRequestPlanDefault: 'run_pull_request_plan_default',
  vcsPrCommentsEnabledDefault: 'vcs_pr_comments_enabled_default',
  forceRemoteBackend: 'force_remote_backend',
  outputsAsInputsEnabled: 'outputs_as_inputs_enabled',
} as const satisfies Record<PolicyFlag, keyof ProjectPolicyTable>;

export function flagsOf(isOn: (name: PolicyFlag) => boolean): Record<PolicyFlag, boolean> {
  return Object.fromEntries(policyFlags.map((name) => [name, isOn(name)])) as Record<PolicyFlag, boolean>;
}

export type { PolicySettings };

/** @param row none: the policy was never changed */
export function settingsOf(row: Omit<PolicyRow, 'updated_at'> | null | undefined): PolicySettings {
  if (!row) return policyDefaults;
  return {
    numberOfEnvironments: row.number_of_environments,
    numberOfEnvironmentsTotal: row.number_of_environments_total,
    maxTtl: row.max_ttl,
    defaultTtl: row.default_ttl,
    ...flagsOf((name) => row[flagColumns[name]]),
    driftDetectionEnabled: row.drift_detection_enabled,
    driftDetectionCron: row.drift_detection_cron,
    autoDriftRemediation: row.auto_drift_remediation,
  };
}

/** The columns that store settings. */
export function columnsOf(settings: PolicySettings) {
  const flags = Object.fromEntries(policyFlags.map((name) => [flagColumns[name], settings[name]]));
  return {
    number_of_environments: settings.numberOfEnvironments,
    number_of_environments_total: settings.numberOfEnvironmentsTotal,
    max_ttl: settings.maxTtl,
    default_ttl: settings.defaultTtl,
    ...(flags as Record<(typeof flagColumns)[PolicyFlag], boolean>),
    drift_detection_enabled: settings.driftDetectionEnabled,
    drift_detection_cron: settings.driftDetectionCron,
    auto_drift_remediation: settings.autoDriftRemediation,
  };
}

/** The policy of a project, as it holds now. */
export async function readPolicySettings(db: Connection, projectId: string): Promise<PolicySettings> {
  return settingsOf(await getPolicyRow(db, projectId));
}
