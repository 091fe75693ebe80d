/**
 * Files of `server/src` that still name tables in SQL although they are not a store of the owning family. The
 * list may only shrink: queries of one table move to its store. What will stay are queries that join rows of
 * several families in one statement, because locks and work lists must be read at once (dispatch), and the
 * first rows of a new installation (start).
 */
export const otherTables: Readonly<Record<string, readonly string[]>> = {
  'deployments/deployment-store.ts': ['attempt', 'job'],
  'deployments/start-facts.ts': ['attempt', 'deployment', 'job'],
  'deployments/waiting-for.ts': ['agent_process', 'attempt', 'job'],
  'dispatch/attempt-blobs.ts': ['attempt_blob', 'deployment', 'job', 'source_archive'],
  'dispatch/attempt-store.ts': ['agent', 'agent_process', 'deployment'],
  'dispatch/claim-job.ts': ['attempt', 'deployment', 'environment'],
  'dispatch/compare-held.ts': ['attempt'],
  'dispatch/confirm-attempt.ts': ['attempt'],
  'dispatch/finish-attempt.ts': ['attempt', 'job'],
  'dispatch/heartbeat.ts': ['attempt', 'deployment', 'job'],
  'dispatch/job-for-agent.ts': ['source_archive'],
  'dispatch/lose-attempt.ts': ['job'],
  'dispatch/receive-report.ts': ['attempt'],
  'dispatch/store-mark.ts': ['attempt'],
  'dispatch/sweep-blobs.ts': [
    'attempt_blob',
    'deployment',
    'environment',
    'job',
    'source_archive',
    'state_version',
  ],
  'dispatch/sweep-silence.ts': ['agent_process', 'attempt', 'deployment', 'job'],
  'schedules/schedule-store.ts': ['environment'],
  'state/receive-state.ts': ['attempt', 'deployment', 'job'],
};
