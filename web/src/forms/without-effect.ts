/** Settings that are stored and have no effect yet: what their pages say next to them. */
import { noEffects } from '#contract/schema/no-effect-words.ts';

/**
 * Consequences although a setting is on, by its name in the contract. A test compares it with the contract's
 * marks.
 */
export const withoutEffect: Readonly<Partial<Record<string, string>>> = {
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
  const consequence = withoutEffect[name];
  if (consequence === undefined) return meaning;
  const sentence = meaning === undefined || /[.!]$/.test(meaning) ? meaning : `${meaning}.`;
  return [sentence, `Stored, without effect yet: ${consequence}.`].filter(Boolean).join(' ');
}
