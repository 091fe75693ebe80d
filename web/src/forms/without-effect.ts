/** Settings that are stored and have no effect yet: what their pages say next to them. */
import type { UpdateEnvironmentBody } from '#contract/environments/create-environment.ts';
import type { UpdateOrganizationPoliciesBody } from '#contract/organizations/operations.ts';
import type { UpdatePolicyBody } from '#contract/project-policies/operations.ts';
import { noEffects } from '#contract/schema/no-effect-words.ts';

type SettingName = keyof (UpdateEnvironmentBody & UpdatePolicyBody & UpdateOrganizationPoliciesBody);

/**
 * Consequences although a setting is on, by its name in the contract. A test compares them with the contract's
 * marks.
 */
const withoutEffect: Readonly<Partial<Record<SettingName, string>>> = {
  // Of environments.
  continuousDeployment: noEffects.continuousDeployment,
  autoDeployOnPathChangesOnly: noEffects.deployedPaths,
  autoDeployByCustomGlob: noEffects.deployedPaths,
  pullRequestPlanDeployments: noEffects.pullRequestPlanDeployments,
  vcsPrCommentsEnabled: noEffects.commentsRead,
  vcsCommandsAlias: noEffects.commentsRead,
  isRemoteApplyEnabled: noEffects.remoteApply,
  // Of policies of projects.
  continuousDeploymentDefault: noEffects.continuousDeployment,
  runPullRequestPlanDefault: noEffects.pullRequestPlanDeployments,
  vcsPrCommentsEnabledDefault: noEffects.commentsRead,
  // Of organizations.
  doNotReportSkippedStatusChecks: noEffects.statusChecks,
  doNotConsiderMergeCommitsForPrPlans: noEffects.pullRequestPlanDeployments,
  enforcePrCommenterPermissions: noEffects.commentsRead,
  allowMergeableBypassForPrApply: noEffects.pullRequestApplies,
  requireApprovalForPrApplies: noEffects.pullRequestApplies,
  disablePrComments: noEffects.commentsWritten,
  allowServiceSecrets: noEffects.serviceSecrets,
};

/**
 * @param meaning what the setting is for
 * @returns the same, followed by what it does not do yet
 */
export function describeSetting(name: string, meaning?: string): string | undefined {
  const consequence = withoutEffect[name as SettingName];
  if (consequence === undefined) return meaning;
  const sentence = meaning === undefined || /[.!]$/.test(meaning) ? meaning : `${meaning}.`;
  return [sentence, `Stored, without effect yet: ${consequence}.`].filter(Boolean).join(' ');
}
