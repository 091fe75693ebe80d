/** Consequences of a deployment: environments downstream, the remediation of drift. */
import type { Family } from '../../framework/family.ts';
import { deployDownstream, promiseDownstream } from './deploy-downstream.ts';
import { promiseRemediation, remediateDrift } from './remediate-drift.ts';
import { triggerRoutes } from './trigger-routes.ts';

export const family: Family = {
  name: 'triggers',
  routes: triggerRoutes,
  reactions: { deploymentMoved: [promiseDownstream, promiseRemediation] },
  effects: [deployDownstream, remediateDrift],
  tables: ['downstream'],
};
