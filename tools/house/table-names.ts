/**
 * Stores of `server/src/rows` that also name tables of other families, because one statement has to read them at
 * once. The list may only shrink: a query of one table belongs in the store of its family.
 */
export const otherTables: Readonly<Record<string, readonly string[]>> = {
  // The last deploy that reached the world: succeeded, or with a start mark. Found in one pass over an index.
  'deployments/deployment-store.ts': ['attempt', 'job'],
  // Late and unnamed files are found by what any table names, in one snapshot.
  'dispatch/attempt-blob-store.ts': ['deployment', 'environment', 'source_archive', 'state_version'],
  // Every run waits for its credentials: one statement finds them along the path of its project.
  'credentials/credential-store.ts': ['organization', 'project'],
  // A look of a stream reads events and steps at once.
  'feeds/event-store.ts': ['deployment_step'],
  // A report is compared with one statement and stored with another one: logs, steps, events and the attempt.
  'dispatch/report-store.ts': [
    'deployment',
    'deployment_event',
    'deployment_step',
    'log_chunk',
    'organization_event',
  ],
  // Each call of an agent is checked by one statement, from the secret to the environment of the attempt.
  'dispatch/call-store.ts': ['agent', 'agent_process', 'agent_secret', 'deployment'],
  // A job is handed to the agent of its project, found along the path of the project.
  'agents/project-agent-store.ts': ['project'],
  'agents/process-store.ts': ['project'],
  // Jobs wait for the agents of their projects.
  'dispatch/load-store.ts': ['agent_process', 'deployment', 'project'],
  // Runs as a whole: which agent process holds which attempt of which deployment and environment.
  'dispatch/run-store.ts': ['agent', 'agent_process', 'deployment', 'environment'],
  // Whether an agent may take a job depends on its secret and on the project of the deployment.
  'dispatch/claim-store.ts': ['agent_process', 'agent_secret', 'deployment', 'environment', 'project'],
  // Missed runs depend on the environment's lock, and the list of a project on its environments.
  'schedules/schedule-store.ts': ['environment'],
  // The calendar reads the dates of environments and of their schedules.
  'calendar/calendar-store.ts': ['environment', 'schedule'],
};
