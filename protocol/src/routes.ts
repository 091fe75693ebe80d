/**
 * Paths of all calls of the agent protocol. `register` and `token` carry `Authorization: Basic agentKey:agentSecret`, all
 * others `Authorization: Bearer token`; all but `register` also `x-envarium-agent` (the agentId that `register`
 * answered) and `x-envarium-epoch`.
 */
export const protocolBase = '/agent/v1';

export const protocolRoutes = {
  register: { method: 'POST', path: '/register' },
  token: { method: 'POST', path: '/token' },
  heartbeat: { method: 'POST', path: '/heartbeat' },
  claim: { method: 'POST', path: '/claim' },
  goodbye: { method: 'POST', path: '/goodbye' },
  report: { method: 'POST', path: '/jobs/{jobId}/attempts/{attempt}/report' },
  mark: { method: 'POST', path: '/jobs/{jobId}/attempts/{attempt}/mark' },
  finish: { method: 'POST', path: '/jobs/{jobId}/attempts/{attempt}/finish' },
  putState: { method: 'PUT', path: '/jobs/{jobId}/attempts/{attempt}/state' },
  getState: { method: 'GET', path: '/jobs/{jobId}/attempts/{attempt}/state' },
  putBlob: { method: 'PUT', path: '/jobs/{jobId}/attempts/{attempt}/blobs/{name}' },
  getBlob: { method: 'GET', path: '/jobs/{jobId}/attempts/{attempt}/blobs/{name}' },
} as const;
