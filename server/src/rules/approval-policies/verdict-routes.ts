/** Operations on the verdicts of approval policies. */
import { operations } from '#contract/operations.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { listVerdictsOf } from './list-verdicts.ts';

const defaultPage = 25;

export const verdictRoutes: Route[] = [
  route(operations.listPolicyVerdicts, (context, { params, query }) =>
    listVerdictsOf(context, params.id, { limit: query.limit ?? defaultPage, offset: query.offset ?? 0 }),
  ),
];
