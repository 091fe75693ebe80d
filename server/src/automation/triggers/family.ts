/** Consequences of a deployment: environments downstream, the remediation of drift. */
import { operations } from '#contract/operations.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { changeDownstream } from './change-downstream.ts';
import { deployDownstream, promiseDownstream } from './deploy-downstream.ts';
import { listDownstream } from './downstream-view.ts';
import { promiseRemediation, remediateDrift } from './remediate-drift.ts';

const triggerRoutes: Route[] = [
  route(operations.listDownstream, (context, { params }) => listDownstream(context, params.id)),
  route(operations.setDownstream, (context, { params, body: { downstreamEnvironmentIds: ids } }) =>
    changeDownstream(context, params.id, ids, () => ids),
  ),
  route(operations.addDownstream, async (context, { params, body: { downstreamEnvironmentIds: ids } }) => {
    await changeDownstream(context, params.id, ids, (now) => [...now, ...ids]);
    return null;
  }),
  route(operations.removeDownstream, async (context, { params, body: { downstreamEnvironmentIds: ids } }) => {
    await changeDownstream(context, params.id, ids, (now) => now.filter((id) => !ids.includes(id)));
    return null;
  }),
];

export const family: Family = {
  name: 'triggers',
  routes: triggerRoutes,
  reactions: { deploymentMoved: [promiseDownstream, promiseRemediation] },
  effects: [deployDownstream, remediateDrift],
  tables: ['downstream'],
};
