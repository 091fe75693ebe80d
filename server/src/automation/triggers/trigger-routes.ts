/** Operations on what follows an environment, each with its verb. */
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { changeDownstream } from './change-downstream.ts';
import { listDownstream } from './downstream-view.ts';

export const triggerRoutes: Route[] = [
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
