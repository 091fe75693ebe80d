/** Settings of a policy that are on or off, in the order of the reference. Without schemas: programs start with it. */
export const policyFlags = [
  'requiresApprovalDefault',
  'includeCostEstimation',
  'skipApplyWhenPlanIsEmpty',
  'disableDestroyEnvironments',
  'forceCheckoutOnTtlDestroy',
  'skipRedundantDeployments',
  'continuousDeploymentDefault',
  'runPullRequestPlanDefault',
  'vcsPrCommentsEnabledDefault',
  'forceRemoteBackend',
  'outputsAsInputsEnabled',
] as const;
export type PolicyFlag = (typeof policyFlags)[number];
