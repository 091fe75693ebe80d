/** Variables of every scope. */
import { operations } from '#contract/operations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { Family } from '../../framework/family.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { notFound } from '../../ground/errors.ts';
import { getVariableRow, lockVariableRow, scopeOf } from '../../rows/variables/variable-store.ts';
import { findHome, variableHome } from './find-home.ts';
import { listVariables } from './list-variables.ts';
import { deleteVariable, saveVariables } from './save-variables.ts';
import { variableView } from './variable-view.ts';

const variableRoutes: Route[] = [
  route(operations.listVariables, (context, { query }) => listVariables(context, query)),
  route(operations.saveVariables, (context, { body }) => saveVariables(context, body)),
  route(operations.getVariable, async (context, { params }) => {
    const row = await getVariableRow(context.db, params.id);
    const found = row && (await findHome(context.db, scopeOf(row)));
    if (!row || !found) throw notFound('variable', params.id);
    requireRight(context.actor, found.place, found.rightToView, 'Reading this variable');
    return variableView(context, row);
  }),
  route(operations.deleteVariable, (context, { params }) => deleteVariable(context, params.id)),
];

export const family: Family = {
  name: 'variables',
  routes: variableRoutes,
  entities: { variable: variableHome },
  locks: { variable: lockVariableRow },
  tables: ['variable'],
};
