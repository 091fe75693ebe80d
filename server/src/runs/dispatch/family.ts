/** Jobs and their attempts: the server's side of the agent protocol. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { removeLeftovers, removeTravelled } from './blobs/sweep-blobs.ts';
import { agentRoutes } from './protocol-routes.ts';
import { releaseDeployment } from './release-deployment.ts';
import { stampEverySeconds, sweepSilence } from './sweep-silence.ts';

const releaseRoutes: Route[] = [
  route(operations.releaseDeployment, (context, { params, body }) =>
    releaseDeployment(context, params.id, body.reason),
  ),
];

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
