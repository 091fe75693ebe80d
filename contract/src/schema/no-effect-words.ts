/** Purpose of options without effect so far. Without schemas, because browsers read it too. */

/** A sentence without its end, by field. */
export const noEffects = {
  continuousDeployment: 'pushes to the repository do not start deployments',
  pullRequestPlanDeployments: 'pull requests do not start plans',
  deployedPaths: 'pushes to the repository do not start deployments, whatever paths they change',
  commentsRead: 'comments on pull requests are not read',
  commentsWritten: 'no comments are written on pull requests',
  pullRequestApplies: 'pull requests do not start applies',
  statusChecks: 'no status checks are reported',
  remoteApply: 'remote runs plan only',
  tests: 'modules and templates are not tested',
  tagPrefix: 'tags do not make versions',
  customFlows: 'custom flows do not run',
  modules: 'modules are neither tested nor served to tools',
  providers: 'providers are not served to tools',
  forgeIds: 'repositories are read by their address',
  forgeAgents: 'each agent reads repositories itself, and the service reads them, too',
  forgeAccess: 'everybody in the organization may use a connection, and its forge is reached directly',
  moduleSets: 'modules do not run, so that nothing reads the variables of these sets',
  serviceSecrets: 'nothing reads the switch',
  agentLogs: 'the service itself stores the logs of all agents',
  budgets: 'costs are not measured, so no threshold is ever reached',
  costCredentials: 'the costs of clouds are not read',
  workflowEnvironments: 'workflows do not run, so that no environment is created',
  driftPullRequests: 'pull requests cannot be opened, and drift is only reported',
} as const;
