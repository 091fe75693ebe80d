/** The operation by which a person gives up a run. */
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { releaseDeployment } from './release-deployment.ts';

export const releaseRoutes: Route[] = [
  route(operations.releaseDeployment, (context, { params, body }) =>
    releaseDeployment(context, params.id, body.reason),
  ),
];
