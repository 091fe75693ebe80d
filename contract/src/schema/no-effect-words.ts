/** What options without effect would do. Without schemas, because browsers read it too. */

/** A sentence without its end, by field. */
export const noEffects = {
  continuousDeployment: 'pushes to the repository do not start deployments',
  pullRequestPlanDeployments: 'pull requests do not start plans',
  agentLogs: 'the service itself stores the logs of all agents',
  driftPullRequests: 'pull requests cannot be opened, and drift is only reported',
} as const;
