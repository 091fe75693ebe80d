/** Jobs and their attempts: the server's side of the agent protocol. */
import type { Family } from '../../framework/family.ts';
import { removeLeftovers, removeTravelled } from './blobs/sweep-blobs.ts';
import { agentRoutes } from './protocol-routes.ts';
import { releaseRoutes } from './release-routes.ts';
import { stampEverySeconds, sweepSilence } from './sweep-silence.ts';

export const family: Family = {
  name: 'dispatch',
  routes: releaseRoutes,
  plugin: agentRoutes,
  loops: [
    { name: 'runs of silent agents', everySeconds: stampEverySeconds, pass: sweepSilence },
    { name: 'unused blobs', everySeconds: 3600, pass: removeLeftovers },
  ],
  reactions: { deploymentMoved: [removeTravelled] },
  tables: ['job', 'attempt', 'attempt_blob', 'environment_secret'],
};
